#!lua flags=allow-oom
-- Extends leases. A lease covers all messages that a token holds, so a call names all of them; those that it does not name are
-- unknown to the consumer, and become ready again.
--
-- KEYS claims leases ready wake paused
--@with lanes --      messages lanes line held
-- ARGV lease: number, in ms, from now
--@with lanes --      lanes: text, as in include/lanes.lua
--      ...: for each message: id, token of the claim that holds it
-- Returns the positions, from 1, of those that are no longer held. An id is not enough: a message that was replaced may be held by
--      its old claim and its new one.
--
-- Atomic so that a lease is not extended for a claim that ends at the same moment. A crash right after leaves the leases to
-- expire by themselves.
--@include clock
--@include permission
--@include held
--@include set
--@include claims
--@include give-back
--@with lanes --@include lanes
--@with lanes --@include read-lanes

local _, now_micros = read_clock()
local deadline = string.format('%.0f', instant_in(args.lease, now_micros))

local named, tokens = {}, {}
for at = FIRST, #ARGV, 2 do
  local id, token = ARGV[at], ARGV[at + 1]
  if not named[token] then
    named[token] = {}
    tokens[#tokens + 1] = token
  end
  table.insert(named[token], id)
end

local held = read_held(keys.claims, tokens)
local deadlines, strays, left, still_held = {}, {}, {}, {}
for _, token in ipairs(tokens) do
  local kept = {}
  local known, held_ids = set_of(named[token]), ids_held(held[token] or '\n')
  still_held[token] = set_of(held_ids)
  for _, id in ipairs(held_ids) do
    table.insert(known[id] and kept or strays, id)
  end
  if #kept > 0 then
    deadlines[#deadlines + 1], deadlines[#deadlines + 2] = deadline, token
  end
  if #kept < #held_ids then
    left[token] = #kept > 0 and with_ids('\n', kept) or '\n'
  end
end

local lost = {}
for at = FIRST, #ARGV, 2 do
  if not still_held[ARGV[at + 1]][ARGV[at]] then
    lost[#lost + 1] = (at - FIRST) / 2 + 1
  end
end

redis.call('ZCARD', keys.leases)
check_permissions('ZADD', keys.leases)
if #strays > 0 then
  check_store_held()
  check_give_back()
  --@with lanes check_lanes()
  --@with lanes read_lanes(strays)
end
if #deadlines > 0 then
  redis.call('ZADD', keys.leases, unpack(deadlines))
end
for token, text in pairs(left) do
  store_held(token, text)
end
give_back(strays)
--@with lanes return_ready(strays)
--@with lanes store_lanes()
return lost
