-- Searches for a delayed message by its value, one part of the queue at a time.
--
-- KEYS timeouts
-- ARGV value: text
--      cursor: text, '0' to begin
-- Returns the next cursor ('0': the search is over) and, if it was in this part, the entry.
--
-- A message that stays delayed from the first call to the last is found, even if it is rescheduled in between: the cursor is
-- that of ZSCAN. Writes nothing.
local function run(keys, args)
  local q = { timeouts = keys[1] }
  local value, cursor = args[1], args[2]
  local COUNT = 1000

  local part = call('ZSCAN', q.timeouts, cursor, 'COUNT', COUNT)
  for at = 1, #part[2], 2 do
    local entry = part[2][at]
    if Entry.value(entry) == value then
      return { part[1], entry }
    end
  end
  return { part[1] }
end

register('seek_value', { 'no-writes' }, run)
