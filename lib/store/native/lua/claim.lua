#!lua flags=allow-oom
-- Takes ready messages under a lease.
--
-- KEYS 1 ready  2 active  3 messages  4 attempts  5 claims  6 wake  7 paused
-- ARGV 1 token of this claim
--      2 most messages to take (0-1000); 0 only rings for those that are ready
--      3 lease in ms
--      4 1 if the answer to a claim of this token got lost, else 0: what it took is answered with, if it took anything
-- Returns more (0 or 1: whether ready messages remain), then for each message taken: id, failed attempts, record (null if
--      the queue lost it: the id was ready without a message, and is dropped).
--
-- Atomic so that a message leaves ready only into a lease: there is no moment at which a crash could lose it. A crash right
-- after costs the messages their lease and an attempt.
--@include clock
--@include record
--@include ring

local ready, active, messages, attempts, claims, wake, paused = unpack(KEYS)
local token, limit, lease, repeated = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'

-- Looks at every claim of the queue, of which there are as many as handlers at work.
local function held_by(wanted)
  local ids = {}
  local all = redis.call('HGETALL', claims)
  for at = 1, #all, 2 do
    if all[at + 1] == wanted and #ids < 1000 then
      ids[#ids + 1] = all[at]
    end
  end
  return ids
end

local taken_before = repeated and held_by(token) or {}
local is_paused = redis.call('GET', paused)
if is_paused and #taken_before == 0 then
  return { 0 }
end

-- One more than wanted tells whether any remain.
local ids = redis.call('LRANGE', ready, 0, limit)
local more = #ids > limit
if more then
  table.remove(ids)
end
local taken_now = #ids
if #taken_before > 0 then
  more = more or taken_now > 0
  ids, taken_now = taken_before, 0
end
more = more and not is_paused

local tokens_at_door = redis.call('LLEN', wake)
local reply = { more and 1 or 0 }
if #ids > 0 then
  local _, now_micros = read_clock()
  local deadline = instant_in(lease, now_micros)
  local records = redis.call('HMGET', messages, unpack(ids))
  local failed = redis.call('HMGET', attempts, unpack(ids))
  redis.call('HLEN', claims)
  redis.call('ZCARD', active)

  local deadlines, tokens = {}, {}
  for i, id in ipairs(ids) do
    local record = is_record(records[i]) and records[i]
    reply[#reply + 1], reply[#reply + 2], reply[#reply + 3] = id, tonumber(failed[i] or 0) or 0, record
    if record then
      deadlines[#deadlines + 1], deadlines[#deadlines + 2] = deadline, id
      tokens[#tokens + 1], tokens[#tokens + 2] = id, token
    end
  end
  if taken_now > 0 then
    redis.call('LPOP', ready, taken_now)
  end
  if #deadlines > 0 then
    redis.call('ZADD', active, unpack(deadlines))
    redis.call('HSET', claims, unpack(tokens))
  end
end

if more and tokens_at_door == 0 then
  redis.call('RPUSH', wake, '1')
elseif not more and tokens_at_door > 0 then
  -- Nothing is left to wake for.
  redis.call('DEL', wake)
end
return reply
