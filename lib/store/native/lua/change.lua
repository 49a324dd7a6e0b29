#!lua
-- Changes the due time and the body of a message that is still delayed and has the body that the caller has read.
--
-- KEYS delayed messages partitions
-- ARGV deadline: number, instant in ms, 0: none
--      id: text
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
--      due: text, '+' and a delay, or '@' and an instant, in ms
--      body_read: text, SHA-1 of the body that the caller has read, 40 hexadecimal digits
--      body: text, the new one
--      channel: text, of announcements
--      database: text, of announcements: its number, or cluster, where they are sharded
-- Returns 'changed', 'absent' if the message is not delayed (any more), or 'stale' if it has another body; then nothing was written.
--
-- Atomic so that exactly one of cancel, reschedule, change and transfer wins, and so that no change is lost that came in between. A
-- crash right after leaves the message changed; a lost announcement costs a check interval.
-- If memory is short, the server refuses this script before it starts.
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
  return 'absent'
end

-- Of what is too short to be a record, the caller has read everything as the body.
local body = is_record(record) and record_body(record) or record
if redis.sha1hex(body) ~= args.body_read then
  return 'stale'
end

local due = due_instant(args.due, now_micros)
check_permissions('ZADD', keys.delayed, 'HSET', keys.messages)
announce(args.database, args.channel, earliest_before, due, now)
redis.call('ZADD', keys.delayed, due, member)
redis.call('HSET', keys.messages, id, pack_record(due, record_offered(record), args.body))
return 'changed'
