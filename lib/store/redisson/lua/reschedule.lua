#!lua flags=allow-oom
-- Moves the due time of a message that was offered here and is still delayed.
--
-- KEYS 1 timeouts  2 offered  3 messages  4 values
-- ARGV 1 id
--      2 due: '+' and a delay, or '@' and an instant, in ms
--      3 channel of Redisson
-- Returns 'moved', 'late' if it is not delayed any more, or 'unknown' if no consumer has yet to take it.
--
-- Atomic so that of cancel, reschedule and transfer exactly one wins, and score and record agree. A crash right after leaves
-- the message at its new due time; a lost announcement costs a check interval.
--@include native/clock
--@include native/record
--@include native/announce
--@include entry
--@include offered

local timeouts, offered, messages, values = unpack(KEYS)
local id, when, channel = ARGV[1], ARGV[2], ARGV[3]

local _, now_micros = read_clock()
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
if earliest_before == nil or due < earliest_before then
  redis.call('PUBLISH', channel, string.format('%.0f', due))
end
redis.call('ZADD', timeouts, due, entry)
redis.call('ZADD', offered, due, id)
redis.call('HSET', messages, id, with_due(record, due))
leave_values(values, id, record)
return 'moved'
