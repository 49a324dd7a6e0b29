#!lua
-- KEYS 1 delayed  2 messages
-- ARGV 1 id
if redis.call('ZREM', KEYS[1], ARGV[1]) == 1 then
  redis.call('HDEL', KEYS[2], ARGV[1])
end
