-- Announcements on a queue's channel. `database`: text, the database number, or cluster, where announcements are sharded.

function Channel.command(database)
  return database == 'cluster' and 'SPUBLISH' or 'PUBLISH'
end

-- Publishes to every listener. The last word is the database's number, because databases share channels; a cluster has only number 0. In a
-- cluster, PUBLISH would burden every server, while SPUBLISH burdens only the queue's shard, where its schedulers listen. If SPUBLISH
-- reaches nobody, PUBLISH follows, because listeners to a family's channel pattern receive no SPUBLISH. A user's ACL can refuse either
-- command, so the caller publishes, or checks this, before the first write. Nobody can act on an announcement before the call has ended.
function Channel.publish(database, channel, text)
  if database ~= 'cluster' then
    call('PUBLISH', channel, text .. ' ' .. database)
  elseif call('SPUBLISH', channel, text .. ' 0') == 0 then
    call('PUBLISH', channel, text .. ' 0')
  end
end

-- If `due` is earlier than `before`, announces to every scheduler that something falls due then: "<due ms> <ms from now> <database>".
-- Otherwise publishes nothing, because it would wake schedulers in vain.
function Channel.announce(database, channel, before, due, now)
  if due and (before == nil or due < before) then
    Channel.publish(database, channel, format('%d %d', due, max(0, due - now)))
  end
end

-- Announces a transfer to everyone who watches the queue, which saves them a look: "transfer <scheduler> <when it last moved something, us>
-- <ready messages> <now, us> <next instant in ms at which there is work> <database>". -1 for an instant means never, or unknown.
-- `announcer`: text, the `...` argument of transfer-and-claim.lua.
function Channel.announce_transfer(announcer, has_moved, ready, next_at, micros)
  local database, scheduler, moved_at, channel = match(announcer, '^(%S+) (%S+) (%S+) (.*)$')
  moved_at = has_moved and format('%d', micros) or moved_at
  Channel.publish(database, channel, format('transfer %s %s %d %d %d', scheduler, moved_at, ready, micros, next_at))
end

function Channel.may_announce(announcer)
  local database, channel = match(announcer, '^(%S+) %S+ %S+ (.*)$')
  return acl_check(Channel.command(database), channel, '0')
end
