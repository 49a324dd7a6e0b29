-- Removes an active message, and tells the consumer that holds it. A follower takes its place, or is removed, too, if it repeats.
--
-- KEYS messages claims leases attempts partitions delayed followers
--      | permits backlog held ready wake paused
-- ARGV deadline: text, instant in ms, 0: none
--      id: text
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
--      channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
--      | groups: text, as in modules/groups.lua
-- Returns 1 if the message was removed, 0 if it is not, or is no longer, active.
--
-- Atomic so that exactly one of abort and settle wins. A crash right afterwards leaves the message removed; if the announcement is lost,
-- the consumer finds out when it extends the lease.
local function run(keys, args)
  local q = {
    messages = keys[1], claims = keys[2], leases = keys[3], attempts = keys[4], partitions = keys[5], delayed = keys[6],
    followers = keys[7], permits = keys[8], backlog = keys[9], held = keys[10], ready = keys[11], wake = keys[12], paused = keys[13],
  }
  local deadline, id, partitioning, channel, database, groups = args[1], args[2], args[3], args[4], args[5], args[6]
  local now, micros = Clock.read()
  Clock.check(deadline, now)
  call('HLEN', q.messages)
  call('HLEN', q.attempts)
  call('ZCARD', q.leases)
  local token = Claims.holders(q.claims)[id]
  if not token then
    Partitioning.check(q.partitions, partitioning)
    return 0
  end

  Claims.check_store(q)
  Permissions.check('HDEL', q.messages, 'HDEL', q.attempts)
  if q.permits then
    Groups.begin(q, groups)
  end
  local follower = call('HMGET', q.followers, id)[1]
  local is_rule_ended = follower and Followers.repeats(follower)
  local followers
  if is_rule_ended then
    Permissions.check('HDEL', q.followers)
  elseif follower then
    followers = Followers.plan(q, { id }, now, micros)
  end
  if q.groups then
    Groups.check_permits(q)
    Wake.check(q)
    Groups.read(q, { id })
    Groups.leave(q, { id })
  end
  -- Publishes before the first write, because a user's ACL can refuse it. Nobody can act on the announcement before this call has ended.
  local text = format('abort %s %s', token, id)
  call(Channel.command(database), channel, text)
  if database == 'cluster' then
    -- Families need PUBLISH even if SPUBLISH has reached others: they listen with patterns, which do not match SPUBLISH.
    call('PUBLISH', channel, text)
  end
  if followers then
    Channel.announce(database, channel, Scores.lowest(q.delayed), followers.earliest, now)
  end
  Claims.store(q, token, Ids.without(call('HGET', q.claims, token), id))
  if followers then
    Followers.store(q, followers)
  else
    call('HDEL', q.messages, id)
    call('HDEL', q.attempts, id)
  end
  if is_rule_ended then
    call('HDEL', q.followers, id)
  end
  if q.groups then
    Wake.signal_ready(q, Groups.store(q))
  end
  return 1
end

register('abort', { 'allow-oom' }, run)
