#!lua flags=allow-oom
-- Removes a message that is active, and tells the consumer that holds it.
--
-- KEYS messages claims leases attempts partitions
-- ARGV deadline: number, instant in ms, 0: none
--      id: text
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
--      channel: text, of announcements
--      publish: text, the command for them, PUBLISH or in a cluster SPUBLISH
-- Returns 1 if it was removed, 0 if it is not active (any more).
--
-- Atomic so that exactly one of abort and settle wins. A crash right after leaves the message gone; if the announcement is lost, the
-- consumer finds out when it extends the lease.
--@include clock
--@include permission
--@include claims
--@include holders
--@include check-partitioning

local id = args.id
check_deadline(args.deadline, (read_clock()))
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
-- Before the first write, because a user's ACL can refuse it; nobody can act on it before the script has ended.
local text = string.format('abort %s %s', token, id)
redis.call(args.publish, args.channel, text)
if args.publish == 'SPUBLISH' then
  -- Whoever listens to a pattern for a family of queues hears no SPUBLISH, and others may hear this one.
  redis.call('PUBLISH', args.channel, text)
end
store_held(token, without_ids(redis.call('HGET', keys.claims, token), id))
redis.call('HDEL', keys.messages, id)
redis.call('HDEL', keys.attempts, id)
return 1
