-- database: text, the number of the database, or cluster, where announcements are sharded
local function command_of(database)
  return database == 'cluster' and 'SPUBLISH' or 'PUBLISH'
end

-- Tells everyone who listens. In a cluster, PUBLISH would cost every server, and SPUBLISH costs only the shard of the queue, where
-- its schedulers listen. Those that listen to a pattern for a family of queues hear no SPUBLISH. So if nobody has heard it, all
-- servers are told. Called before the first write, because a user's ACL can refuse it; nobody can act on it before the script has
-- ended.
local function publish(database, channel, text)
  if redis.call(command_of(database), channel, text) == 0 and database == 'cluster' then
    redis.call('PUBLISH', channel, text)
  end
end

-- The last word of an announcement, because databases share channels: that of its database. A cluster has only number 0.
local function word_of(database)
  return database == 'cluster' and '0' or database
end

-- Announces to every scheduler that something falls due earlier than all that they know of: "<due ms> <ms from now> <database>".
-- Publishes nothing otherwise, because schedulers would wake for nothing.
local function announce(database, channel, before, due, now)
  if due and (before == nil or due < before) then
    publish(database, channel, string.format('%.0f %.0f %s', due, math.max(0, due - now), word_of(database)))
  end
end
