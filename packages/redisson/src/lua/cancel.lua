#!lua flags=allow-oom
-- Removes a message that was offered here and is still delayed.
--
-- KEYS timeouts entries offered values repeated
-- ARGV deadline: number, instant in ms, 0: none
--      id: text
-- Returns 'cancelled', 'late' if it is no longer delayed, or 'unknown' if it is not among the messages that were offered here
--      and that no consumer has taken: then it is in the native bookkeeping, or does not exist.
--
-- Atomic so that exactly one of cancel, reschedule and transfer wins, even if Java transfers. A crash right after leaves the
-- message gone.
--@include native/clock
--@include native/permission
--@include offered
--@include forget
--@include unlist

check_deadline(args.deadline, (read_clock()))
local record = redis.call('HGET', keys.offered, args.id)
if not record then
  return 'unknown'
end
local entry = entry_of(record)
if not redis.call('ZSCORE', keys.timeouts, entry) then
  return 'late'
end
check_permissions('ZREM', keys.timeouts)
check_unlist(keys.entries)
check_forget()
unlist_all(keys.entries, { entry })
redis.call('ZREM', keys.timeouts, entry)
forget_offered(args.id, record)
return 'cancelled'
