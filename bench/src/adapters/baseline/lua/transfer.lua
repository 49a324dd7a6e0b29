#!lua
-- KEYS 1 delayed  2 ready
-- ARGV 1 most messages to move
-- Returns how many were moved, and how long it is until the next one falls due, ms (-1: there is none)
local now = redis.call('TIME')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local ids = redis.call('ZRANGE', KEYS[1], '-inf', now_ms, 'BYSCORE', 'LIMIT', 0, ARGV[1])
if #ids > 0 then
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, #ids - 1)
  redis.call('RPUSH', KEYS[2], unpack(ids))
end
local head = tonumber(redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2])
return { #ids, head and math.max(0, head - now_ms) or -1 }
