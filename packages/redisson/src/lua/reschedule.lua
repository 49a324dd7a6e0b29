#!lua flags=allow-oom
-- Changes the due time of a message that was offered here and is still delayed.
--
-- KEYS timeouts offered values repeated
-- ARGV deadline: number, instant in ms, 0: none
--      id: text
--      due: text, '+' and a delay, or '@' and an instant, in ms
--      channel: text, of announcements, Redisson's
-- Returns 'moved', 'late' if it is no longer delayed, or 'unknown' if it is not among the messages that were offered here and
--      that no consumer has taken.
--
-- Atomic so that exactly one of cancel, reschedule and transfer wins, and so that score and record agree. A crash right after
-- leaves the message with its new due time; a lost announcement costs a check interval.
--@include native/clock
--@include native/permission
--@include native/record
--@include native/lowest
--@include entry
--@include offered

local id = args.id
local now, now_micros = read_clock()
check_deadline(args.deadline, now)
local earliest_before = lowest(keys.timeouts)
local record = redis.call('HGET', keys.offered, id)
if not record then
  return 'unknown'
end
local entry = entry_of(record)
if not redis.call('ZSCORE', keys.timeouts, entry) then
  return 'late'
end

local due = due_instant(args.due, now_micros)
local moved = with_due(record, due)
local digest = digest_of(entry_value(entry))
local repeats = redis.call('HGET', keys.values, digest) ~= id
redis.call('ZCARD', keys.repeated)
check_permissions('ZADD', keys.timeouts, 'HSET', keys.offered, 'ZREM', keys.repeated, 'ZADD', keys.repeated)
if earliest_before == nil or due < earliest_before then
  redis.call('PUBLISH', args.channel, string.format('%.0f', due))
end
redis.call('ZADD', keys.timeouts, due, entry)
redis.call('HSET', keys.offered, id, moved)
if repeats then
  redis.call('ZADD', keys.repeated, 0, place_of(digest, id, moved))
  redis.call('ZREM', keys.repeated, place_of(digest, id, record))
end
return 'moved'
