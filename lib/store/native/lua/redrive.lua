#!lua flags=allow-oom
-- Makes dead letters due now, with all their attempts before them again.
--
-- KEYS 1 dead  2 errors  3 messages  4 attempts  5 delayed
-- ARGV 1 deadline in ms, 0: none
--      2 'id' or 'oldest'
--      3 the id, or the most letters (1-1000)
--      4 channel of announcements
-- Returns how many.
--
-- Atomic so that a letter is never in two states and never in none. A crash right after leaves them due; a lost
-- announcement costs a check interval.
--@include clock
--@include deadline
--@include permission
--@include record
--@include announce
--@include dead
--@include select-dead

local dead, errors, messages, attempts, delayed = unpack(KEYS)
local deadline, by, value, channel = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]

local now = read_clock()
check_deadline(deadline, now)
check_dead(dead, errors, messages, attempts)
local earliest_before = earliest_due(delayed)
local ids = select_dead(dead, by, value)
if #ids == 0 then
  return 0
end

local stored = redis.call('HMGET', messages, unpack(ids))
local scores, records = {}, {}
for i, id in ipairs(ids) do
  if stored[i] then
    scores[#scores + 1], scores[#scores + 2] = now, id
    records[#records + 1], records[#records + 2] = id, with_due(stored[i], now)
  end
end
if #scores > 0 then
  check_permissions('ZADD', delayed, 'HSET', messages)
  announce(channel, earliest_before, now, now)
end
redis.call('ZREM', dead, unpack(ids))
redis.call('HDEL', errors, unpack(ids))
redis.call('HDEL', attempts, unpack(ids))
if #scores > 0 then
  redis.call('ZADD', delayed, unpack(scores))
  redis.call('HSET', messages, unpack(records))
end
return #scores / 2
