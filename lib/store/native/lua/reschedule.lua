#!lua flags=allow-oom
-- Changes the due time of a message that is still delayed.
--
-- KEYS delayed messages partitions
-- ARGV deadline: number, instant in ms, 0: none
--      id: text
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
--      due: text, '+' and a delay, or '@' and an instant, in ms
--      channel: text, of announcements
--      database: text, of announcements: its number, or cluster, where they are sharded
-- Returns 1 if it was changed, 0 if the message is not delayed (any more).
--
-- Atomic so that exactly one of cancel, reschedule and transfer wins, and so that score and record agree. A crash right after
-- leaves the message with its new due time; a lost announcement costs a check interval.
--@include clock
--@include permission
--@include check-partitioning
--@include record
--@include lowest
--@include announce
--@with lanes --@include groups

local id = args.id
local now, now_micros = read_clock()
check_deadline(args.deadline, now)
local earliest_before = lowest(keys.delayed)
local record, member = redis.call('HGET', keys.messages, id), id
--@with lanes member = member_of(id, record_group(record))
if not record or not redis.call('ZSCORE', keys.delayed, member) then
  check_partitioning()
  return 0
end

local due = due_instant(args.due, now_micros)
check_permissions('ZADD', keys.delayed, 'HSET', keys.messages)
announce(args.database, args.channel, earliest_before, due, now)
redis.call('ZADD', keys.delayed, due, member)
redis.call('HSET', keys.messages, id, with_due(record, due))
return 1
