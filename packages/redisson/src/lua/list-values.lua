#!lua flags=no-writes
-- Reads the values of delayed messages, in the order of their offers, no matter who offered them.
--
-- KEYS entries
-- ARGV first: number, position of the first value, from 0
--      last: number, position of the last value; -1: the last of all
-- Returns the values. Unreadable entries are left out.
--
-- Atomic so that each message is read once. Writes nothing.
--@include entry

local values = {}
for _, entry in ipairs(redis.call('LRANGE', keys.entries, args.first, args.last)) do
  values[#values + 1] = entry_value(entry)
end
return values
