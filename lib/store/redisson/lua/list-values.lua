#!lua flags=no-writes
-- Reads the values of delayed messages, in the order of their offers, whoever offered them.
--
-- KEYS entries
-- ARGV first: number, place of the first, from 0
--      last: number, place of the last; -1: the last of all
-- Returns the values. Entries that cannot be read are left out.
--
-- Atomic so that each message is read once. Writes nothing.
--@include entry

local values = {}
for _, entry in ipairs(redis.call('LRANGE', keys.entries, args.first, args.last)) do
  values[#values + 1] = entry_value(entry)
end
return values
