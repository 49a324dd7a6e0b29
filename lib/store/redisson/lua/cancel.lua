#!lua flags=allow-oom
-- Removes a message that was offered here and is still delayed.
--
-- KEYS timeouts entries offered values messages
-- ARGV as native/cancel
-- Returns 'cancelled', 'late' if it is not delayed any more, or 'unknown' if no consumer has yet to take it: then it is a
--      matter of the native bookkeeping, or of nobody.
--
-- Atomic so that of cancel, reschedule and transfer exactly one wins, be it Java's. A crash right after leaves the message gone.
--@include native/clock
--@include native/deadline
--@include native/permission
--@include offered
--@include forget
--@include unlist

check_deadline(args.deadline, (read_clock()))
redis.call('LLEN', keys.entries)
redis.call('ZCARD', keys.values)
local record = redis.call('HGET', keys.messages, args.id)
if not record or not redis.call('ZSCORE', keys.offered, args.id) then
  return 'unknown'
end
local entry = entry_of(record)
if not redis.call('ZSCORE', keys.timeouts, entry) then
  return 'late'
end
check_permissions('ZREM', keys.timeouts)
check_unlist(keys.entries)
check_forget()
local plan = locate(keys.entries, { entry })
redis.call('ZREM', keys.timeouts, entry)
unlist(keys.entries, plan)
forget_offered(args.id, record)
return 'cancelled'
