#!lua flags=allow-oom
-- Removes a message that is still delayed, and the follower of a message in whatever state. One that repeats and is ready or active does
-- not come again: it loses its rule.
--
-- KEYS delayed messages attempts partitions followers dead
--@with lanes --      lanes line held ready wake paused
-- ARGV deadline: number, instant in ms, 0: none
--      id: text
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
--@with lanes --      lanes: text, as in include/lanes.lua
-- Returns 1 if any of this was done, 0 if the message is not delayed (any more), has no follower, and does not repeat.
--
-- Atomic so that exactly one of cancel, reschedule and transfer wins. A crash right after leaves the message gone.
--@include clock
--@include permission
--@include check-partitioning
--@with lanes --@include bell
--@with lanes --@include lanes
--@with lanes --@include lines
--@with lanes --@include read-lanes
--@include record
--@include rule

-- The record without its rule of a message that is ready or active; nil: it does not repeat. Nothing has been written yet.
local function plan_end(id)
  local record = redis.call('HGET', keys.messages, id)
  local _, last
  if is_record(record) then
    _, last = find_rule(record)
  end
  if not last or redis.call('ZSCORE', keys.dead, id) then
    return nil
  end
  check_permissions('HSET', keys.messages)
  return with_body(record, string.sub(record, last + 1))
end

check_deadline(args.deadline, (read_clock()))
redis.call('HLEN', keys.messages)
redis.call('HLEN', keys.attempts)
redis.call('HLEN', keys.followers)
check_permissions(
  'ZREM', keys.delayed, 'HDEL', keys.messages, 'HDEL', keys.attempts, 'HDEL', keys.followers
)
--@with lanes check_lines()
--@with lanes check_bell()
--@with lanes read_lanes({ args.id })
local member = args.id
--@with lanes member = member_in_lane(args.id)
local was_delayed = redis.call('ZREM', keys.delayed, member) == 1
local without_rule = not was_delayed and plan_end(args.id)
local had_follower = redis.call('HDEL', keys.followers, args.id) == 1
if without_rule then
  redis.call('HSET', keys.messages, args.id, without_rule)
end
if not was_delayed then
  if not had_follower and not without_rule then
    check_partitioning()
  end
  return (had_follower or without_rule) and 1 or 0
end
redis.call('HDEL', keys.messages, args.id)
redis.call('HDEL', keys.attempts, args.id)
--@with lanes leave_if_held(args.id)
--@with lanes ring_for(store_lanes())
return 1
