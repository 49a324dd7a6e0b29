-- Counts the delayed messages, as Redisson's size() does.
--
-- KEYS entries
-- Returns their number.
--
-- Atomic because it is one command. Writes nothing.
local function run(keys, args)
  local q = { entries = keys[1] }
  return call('LLEN', q.entries)
end

register('count_values', { 'no-writes' }, run)
