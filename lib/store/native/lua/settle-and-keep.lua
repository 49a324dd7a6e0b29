-- Settles claimed messages as settle.lua does, and keeps the ids of those that were handled, so that later offers with them are ignored.
-- The keys and arguments that only some calls send are those of settle.lua.
--
-- KEYS kept messages claims leases attempts followers
--      | delayed dead errors ready wake paused
--      | permits backlog held
-- ARGV kept_for: number, how long an id is kept, ms
--      most: number, maximum number of kept ids
--      | channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
--      max_dead: number, maximum number of dead letters
--      | groups: text, as in modules/groups.lua
--      count: number, of messages; the next `count` arguments are their groups
--      ...: as in settle.lua; besides, the outcome 'ack' with the detail 'expired' is for messages that are gone without having been handled
-- Returns how many ids were dropped because there were more than `most`, then the reply of settle.lua. Null if it needs the extra keys; then
--      nothing was written.
--
-- An id is kept if its claim was still held and its message is gone: if a follower has taken the message's place, the id is in use. A call
-- drops at most twice as many ids as it adds because they are too old, and as many because they are too many, so a set that has become too
-- long shrinks. The key expires when the last id is too old.
--
-- Atomic so that there is no moment at which the message is gone and its id is free. Ids come first, so if an append-only file ends between
-- two writes, the message is still there, and is handled again. A crash right afterwards leaves both done; after a crash right before, the
-- leases expire.

-- Drops the oldest ids, at most `most` of them. Returns how many.
local function drop(kept, count, most)
  local dropped = min(count, most)
  if dropped > 0 then
    call('ZREMRANGEBYRANK', kept, '0', dropped - 1)
  end
  return max(0, dropped)
end

-- Keeps the ids of a list from `first` on, and drops the oldest ones. Returns how many were dropped that were not too old. Raises an error
-- before the first write if ids cannot be kept, or their messages cannot be removed afterwards.
local function keep(kept, messages, ids, first, kept_for, most)
  local now, scores = Clock.read(), {}
  for i = first, #ids do
    scores[#scores + 1], scores[#scores + 2] = now, ids[i]
  end
  if #scores == 0 then
    return 0
  end
  local count, too_old = call('ZCARD', kept), call('ZCOUNT', kept, '-inf', format('%.0f', now - kept_for))
  Permissions.check('ZADD', kept, 'PEXPIRE', kept, 'ZREMRANGEBYRANK', kept, 'HDEL', messages)
  -- First, because one of them may be among the ids to keep.
  local dropped_old = drop(kept, too_old, #scores)
  local added = call('ZADD', kept, unpack(scores))
  local dropped = drop(kept, count - dropped_old + added - most, #scores)
  call('PEXPIRE', kept, format('%.0f', kept_for))
  return max(0, dropped - (too_old - dropped_old))
end

local function short(keys, args)
  local kept, messages, kept_for, most = keys[1], keys[2], tonumber(args[1]), tonumber(args[2])
  local dropped
  local reply = Settling.acknowledge({ unpack(keys, 2) }, args, 3, nil, function(ids, first)
    dropped = keep(kept, messages, ids, first, kept_for, most)
  end)
  return reply and { dropped, reply }
end

local function run(keys, args)
  local q = {
    kept = keys[1], messages = keys[2], claims = keys[3], leases = keys[4], attempts = keys[5], followers = keys[6], delayed = keys[7],
    dead = keys[8], errors = keys[9], ready = keys[10], wake = keys[11], paused = keys[12], permits = keys[13], backlog = keys[14],
    held = keys[15],
  }
  local kept_for, most = tonumber(args[1]), tonumber(args[2])
  local dropped = 0
  local reply = Settling.run(q, { unpack(keys, 2) }, { unpack(args, 3) }, function(ids, first)
    dropped = keep(q.kept, q.messages, ids, first, kept_for, most)
  end)
  return { dropped, unpack(type(reply) == 'table' and reply or { reply }) }
end

register('settle_and_keep', { 'allow-oom' }, run, 6, short)
