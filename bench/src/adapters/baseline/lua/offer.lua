#!lua
-- KEYS 1 delayed  2 messages
-- ARGV 1 channel, then for each message: id, delay in ms, body
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.ceil(now[2] / 1000)
local head = tonumber(redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2])
local scores, bodies, earliest = {}, {}, nil
for at = 2, #ARGV, 3 do
  local due = now_ms + tonumber(ARGV[at + 1])
  scores[#scores + 1], scores[#scores + 2] = due, ARGV[at]
  bodies[#bodies + 1], bodies[#bodies + 2] = ARGV[at], ARGV[at + 2]
  if not earliest or due < earliest then
    earliest = due
  end
end
redis.call('ZADD', KEYS[1], unpack(scores))
redis.call('HSET', KEYS[2], unpack(bodies))
if not head or earliest < head then
  redis.call('PUBLISH', ARGV[1], earliest - now_ms)
end
