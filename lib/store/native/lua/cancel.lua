#!lua flags=allow-oom
-- Removes a message that is still delayed, and the follower of a message in whatever state.
--
-- KEYS delayed messages attempts partitions followers
--@with lanes --      groups lanes lines members held ready wake paused
-- ARGV deadline: number, instant in ms, 0: none
--      id: text
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
--@with lanes --      lanes: text, as in include/lanes.lua
-- Returns 1 if either was removed, 0 if the message is not delayed (any more) and has no follower.
--
-- Atomic so that exactly one of cancel, reschedule and transfer wins. A crash right after leaves the message gone.
--@include clock
--@include permission
--@include check-partitioning
--@with lanes --@include lanes
--@with lanes --@include ring

check_deadline(args.deadline, (read_clock()))
redis.call('HLEN', keys.messages)
redis.call('HLEN', keys.attempts)
redis.call('HLEN', keys.followers)
check_permissions(
  'ZREM', keys.delayed, 'HDEL', keys.messages, 'HDEL', keys.attempts, 'HDEL', keys.followers
)
--@with lanes check_lanes()
--@with lanes redis.call('LLEN', keys.wake)
--@with lanes local is_paused = redis.call('GET', keys.paused)
--@with lanes read_lanes({ args.id })
local was_delayed = redis.call('ZREM', keys.delayed, args.id) == 1
local had_follower = redis.call('HDEL', keys.followers, args.id) == 1
if not was_delayed then
  if not had_follower then
    check_partitioning()
  end
  return had_follower and 1 or 0
end
redis.call('HDEL', keys.messages, args.id)
redis.call('HDEL', keys.attempts, args.id)
--@with lanes leave_if_held(args.id)
--@with lanes forget_groups({ args.id })
--@with lanes if store_lanes() > 0 and not is_paused then
--@with lanes   ring(keys.wake)
--@with lanes end
return 1
