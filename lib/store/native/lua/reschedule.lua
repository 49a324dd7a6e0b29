#!lua flags=allow-oom
-- Moves the due time of a message that is still delayed.
--
-- KEYS 1 delayed  2 messages
-- ARGV 1 deadline in ms, 0: none
--      2 id
--      3 due: '+' and a delay, or '@' and an instant, in ms
--      4 channel of announcements
-- Returns 1 if it was moved, 0 if it is not delayed (any more).
--
-- Atomic so that of cancel, reschedule and transfer exactly one wins, and score and record agree. A crash right after
-- leaves the message at its new due time; a lost announcement costs a check interval.
--@include clock
--@include deadline
--@include permission
--@include record
--@include announce

local delayed, messages = unpack(KEYS)
local deadline, id, when, channel = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]

local now, now_micros = read_clock()
check_deadline(deadline, now)
local earliest_before = earliest_due(delayed)
local record = redis.call('HGET', messages, id)
if not record or not redis.call('ZSCORE', delayed, id) then
  return 0
end

local due = due_instant(when, now_micros)
check_permissions('ZADD', delayed, 'HSET', messages)
announce(channel, earliest_before, due, now)
redis.call('ZADD', delayed, due, id)
redis.call('HSET', messages, id, with_due(record, due))
return 1
