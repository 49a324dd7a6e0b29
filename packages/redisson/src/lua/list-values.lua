-- Reads the values of delayed messages, in the order of their offers, no matter who offered them.
--
-- KEYS entries
-- ARGV first: number, position of the first value, from 0
--      last: number, position of the last value; -1: the last of all
-- Returns the values. Unreadable entries are left out.
--
-- Atomic so that each message is read once. Writes nothing.
local function run(keys, args)
  local q = { entries = keys[1] }
  local first, last = tonumber(args[1]), tonumber(args[2])
  local values = {}
  for _, entry in ipairs(call('LRANGE', q.entries, first, last)) do
    values[#values + 1] = Entry.value(entry)
  end
  return values
end

register('list_values', { 'no-writes' }, run)
