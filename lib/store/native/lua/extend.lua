#!lua flags=allow-oom
-- Lets leases end later.
--
-- KEYS 1 active  2 claims
-- ARGV 1 lease in ms, from now
--      then for each claim: id, token
-- Returns the ids whose claim is no longer held.
--
-- Atomic so that a lease is not extended for a claim that ends in the same moment. A crash right after leaves the leases to
-- end by themselves.
--@include clock

local active, claims = unpack(KEYS)
local _, now_micros = read_clock()
local deadline = instant_in(tonumber(ARGV[1]), now_micros)

local ids = {}
for at = 2, #ARGV, 2 do
  ids[#ids + 1] = ARGV[at]
end
local holders = redis.call('HMGET', claims, unpack(ids))

local deadlines, lost = {}, {}
for i, id in ipairs(ids) do
  if holders[i] == ARGV[i * 2 + 1] then
    deadlines[#deadlines + 1], deadlines[#deadlines + 2] = deadline, id
  else
    lost[#lost + 1] = id
  end
end
if #deadlines > 0 then
  redis.call('ZADD', active, unpack(deadlines))
end
return lost
