#!lua flags=allow-oom
-- Lets leases end later. A lease is that of a whole claim, so one message of it is enough.
--
-- KEYS 1 claims  2 leases
-- ARGV 1 lease in ms, from now
--      then for each message: id, token of the claim that holds it
-- Returns the ids whose claim is no longer held.
--
-- Atomic so that a lease is not extended for a claim that ends in the same moment. A crash right after leaves the leases to
-- end by themselves.
--@include clock
--@include held

local claims, leases = unpack(KEYS)
local _, now_micros = read_clock()
local deadline = string.format('%.0f', instant_in(tonumber(ARGV[1]), now_micros))

local tokens = {}
for at = 3, #ARGV, 2 do
  tokens[#tokens + 1] = ARGV[at]
end
local held = read_held(claims, tokens)

local deadlines, extended, lost = {}, {}, {}
for at = 2, #ARGV, 2 do
  local id, token = ARGV[at], ARGV[at + 1]
  if not (held[token] and without_ids(held[token], id)) then
    lost[#lost + 1] = id
  elseif not extended[token] then
    extended[token] = true
    deadlines[#deadlines + 1], deadlines[#deadlines + 2] = deadline, token
  end
end
if #deadlines > 0 then
  redis.call('ZADD', leases, unpack(deadlines))
end
return lost
