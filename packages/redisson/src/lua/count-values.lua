#!lua flags=no-writes
-- Counts the delayed messages, as Redisson's size() does.
--
-- KEYS entries
-- Returns their number.
--
-- Atomic because it is one command. Writes nothing.

return redis.call('LLEN', keys.entries)
