#!lua flags=allow-oom
-- Removes a message that is still delayed.
--
-- KEYS delayed messages attempts partitions
-- ARGV deadline: number, instant in ms, 0: none
--      id: text
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
-- Returns 1 if it was removed, 0 if it is not delayed (any more).
--
-- Atomic so that exactly one of cancel, reschedule and transfer wins. A crash right after leaves the message gone.
--@include clock
--@include permission
--@include check-partitioning

check_deadline(args.deadline, (read_clock()))
redis.call('HLEN', keys.messages)
redis.call('HLEN', keys.attempts)
check_permissions('ZREM', keys.delayed, 'HDEL', keys.messages, 'HDEL', keys.attempts)
if redis.call('ZREM', keys.delayed, args.id) == 0 then
  check_partitioning()
  return 0
end
redis.call('HDEL', keys.messages, args.id)
redis.call('HDEL', keys.attempts, args.id)
return 1
