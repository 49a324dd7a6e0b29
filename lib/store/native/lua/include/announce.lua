-- Tells everyone who listens. In a cluster, PUBLISH would cost every server, and SPUBLISH costs only the shard of the queue, where
-- its schedulers listen. Those that listen to a pattern for a family of queues hear no SPUBLISH. So if nobody has heard it, all
-- servers are told. Called before the first write, because a user's ACL can refuse it; nobody can act on it before the script has
-- ended.
local function publish(command, channel, text)
  if redis.call(command, channel, text) == 0 and command == 'SPUBLISH' then
    redis.call('PUBLISH', channel, text)
  end
end

-- Announces to every scheduler that something falls due earlier than all that they know of: "<due ms> <ms from now>".
-- Publishes nothing otherwise, because schedulers would wake for nothing.
local function announce(command, channel, before, due, now)
  if due and (before == nil or due < before) then
    publish(command, channel, string.format('%.0f %.0f', due, math.max(0, due - now)))
  end
end
