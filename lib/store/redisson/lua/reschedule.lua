#!lua flags=allow-oom
-- Moves the due time of a message that was offered here and is still delayed.
--
-- KEYS 1 timeouts  2 offered  3 messages  4 values
-- ARGV 1 deadline in ms, 0: none
--      2 id
--      3 due: '+' and a delay, or '@' and an instant, in ms
--      4 channel of Redisson
-- Returns 'moved', 'late' if it is not delayed any more, or 'unknown' if no consumer has yet to take it.
--
-- Atomic so that of cancel, reschedule and transfer exactly one wins, and score and record agree. A crash right after leaves
-- the message at its new due time; a lost announcement costs a check interval.
--@include native/clock
--@include native/deadline
--@include native/permission
--@include native/record
--@include native/announce
--@include entry
--@include offered

local timeouts, offered, messages, values = unpack(KEYS)
local deadline, id, when, channel = tonumber(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]

local now, now_micros = read_clock()
check_deadline(deadline, now)
local earliest_before = earliest_due(timeouts)
redis.call('ZCARD', values)
local record = redis.call('HGET', messages, id)
if not record or not redis.call('ZSCORE', offered, id) then
  return 'unknown'
end
local entry = entry_of(record)
if not redis.call('ZSCORE', timeouts, entry) then
  return 'late'
end

local due = due_instant(when, now_micros)
check_permissions('ZADD', timeouts, 'ZADD', offered, 'HSET', messages, 'ZREM', values)
if earliest_before == nil or due < earliest_before then
  redis.call('PUBLISH', channel, string.format('%.0f', due))
end
redis.call('ZADD', timeouts, due, entry)
redis.call('ZADD', offered, due, id)
redis.call('HSET', messages, id, with_due(record, due))
leave_values(values, id, record)
return 'moved'
