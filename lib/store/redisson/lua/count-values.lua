#!lua flags=no-writes
-- Counts the delayed messages, as Redisson's size() does.
--
-- KEYS 1 entries
-- Returns their number.
--
-- Atomic, being one command. Writes nothing.

return redis.call('LLEN', KEYS[1])
