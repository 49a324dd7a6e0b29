#!lua
-- KEYS 1 active  2 messages
-- ARGV ids
redis.call('ZREM', KEYS[1], unpack(ARGV))
redis.call('HDEL', KEYS[2], unpack(ARGV))
