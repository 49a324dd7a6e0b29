-- Announcements on a queue's channel. `database`: the database's number as a string, or 'cluster', where announcements are sharded.

function Channel.command(database)
  return database == 'cluster' and 'SPUBLISH' or 'PUBLISH'
end

-- Publishes an announcement, followed by the number of the database, because all databases of a server share channels; a cluster has only
-- database 0. In a cluster, SPUBLISH comes first: it reaches only the queue's shard, where its schedulers listen, whereas PUBLISH would
-- burden every server. PUBLISH follows if nobody received it, because families listen with patterns, which do not match SPUBLISH. A user's
-- ACL can refuse either command, so callers publish, or check the permission, before their first write. Publishing first is safe: nobody
-- can act on an announcement before the call has ended.
function Channel.publish(database, channel, text)
  if database ~= 'cluster' then
    call('PUBLISH', channel, text .. ' ' .. database)
  elseif call('SPUBLISH', channel, text .. ' 0') == 0 then
    call('PUBLISH', channel, text .. ' 0')
  end
end

-- Announces to every scheduler that something falls due at `due`: "<due ms> <ms from now> <database>". Publishes nothing if something
-- already falls due as early (at `before`; nil: nothing does), because schedulers would wake in vain.
function Channel.announce(database, channel, before, due, now)
  if due and (before == nil or due < before) then
    Channel.publish(database, channel, format('%d %d', due, max(0, due - now)))
  end
end

-- Announces a transfer to everyone who watches the queue, so that they need not ask: "transfer <scheduler> <when it last moved something,
-- us> <ready messages> <now, us> <next instant in ms at which there is work> <database>". -1 in place of a time means never, or unknown.
-- `announcer`: the `...` argument of transfer-and-claim.lua.
function Channel.announce_transfer(announcer, has_moved, ready, next_at, micros)
  local database, scheduler, moved_at, channel = match(announcer, '^(%S+) (%S+) (%S+) (.*)$')
  moved_at = has_moved and format('%d', micros) or moved_at
  Channel.publish(database, channel, format('transfer %s %s %d %d %d', scheduler, moved_at, ready, micros, next_at))
end

function Channel.may_announce(announcer)
  local database, channel = match(announcer, '^(%S+) %S+ %S+ (.*)$')
  return acl_check(Channel.command(database), channel, '0')
end
