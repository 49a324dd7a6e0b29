#!lua
-- KEYS 1 ready  2 active  3 messages
-- ARGV 1 most messages to take  2 lease in ms
-- Returns ids, bodies
local ids = redis.call('LPOP', KEYS[1], ARGV[1])
if not ids then
  return { {}, {} }
end
local now = redis.call('TIME')
local lease_end = now[1] * 1000 + ARGV[2]
local leases = {}
for i, id in ipairs(ids) do
  leases[2 * i - 1], leases[2 * i] = lease_end, id
end
redis.call('ZADD', KEYS[2], unpack(leases))
return { ids, redis.call('HMGET', KEYS[3], unpack(ids)) }
