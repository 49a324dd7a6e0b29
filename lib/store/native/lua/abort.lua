#!lua flags=allow-oom
-- Removes a message that is active, and tells the consumer that holds it. If it has a follower, that takes its place, unless it repeats:
-- then it is removed as well.
--
-- KEYS messages claims leases attempts partitions delayed followers
--@with lanes --      lanes line held ready wake paused
-- ARGV deadline: number, instant in ms, 0: none
--      id: text
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
--      channel: text, of announcements
--      database: text, of announcements: its number, or cluster, where they are sharded
--@with lanes --      lanes: text, as in include/lanes.lua
-- Returns 1 if it was removed, 0 if it is not active (any more).
--
-- Atomic so that exactly one of abort and settle wins. A crash right after leaves the message gone; if the announcement is lost, the
-- consumer finds out when it extends the lease.
--@include clock
--@include permission
--@include announce
--@include follower
--@include rule
--@include held
--@include lowest
--@include claims
--@include holders
--@include check-partitioning
--@with lanes --@include bell
--@with lanes --@include lanes
--@with lanes --@include read-lanes

local id = args.id
local now, now_micros = read_clock()
check_deadline(args.deadline, now)
redis.call('HLEN', keys.messages)
redis.call('HLEN', keys.attempts)
redis.call('ZCARD', keys.leases)
local token = holders_of(keys.claims)[id]
if not token then
  check_partitioning()
  return 0
end

check_store_held()
check_permissions('HDEL', keys.messages, 'HDEL', keys.attempts)
local follower = redis.call('HMGET', keys.followers, id)[1]
local is_rule_ended = follower and does_follower_repeat(follower)
local release
if is_rule_ended then
  check_permissions('HDEL', keys.followers)
elseif follower then
  release = plan_release({ id }, now, now_micros)
end
--@with lanes check_lanes()
--@with lanes check_bell()
--@with lanes read_lanes({ id })
--@with lanes leave_lanes({ id })
-- Before the first write, because a user's ACL can refuse it; nobody can act on it before the script has ended.
local text = string.format('abort %s %s', token, id)
redis.call(command_of(args.database), args.channel, text)
if args.database == 'cluster' then
  -- Whoever listens to a pattern for a family of queues hears no SPUBLISH, and others may hear this one.
  redis.call('PUBLISH', args.channel, text)
end
if release then
  announce(args.database, args.channel, lowest(keys.delayed), release.earliest, now)
end
store_held(token, without_ids(redis.call('HGET', keys.claims, token), id))
if release then
  release_followers(release)
else
  redis.call('HDEL', keys.messages, id)
  redis.call('HDEL', keys.attempts, id)
end
if is_rule_ended then
  redis.call('HDEL', keys.followers, id)
end
--@with lanes ring_for(store_lanes())
return 1
