-- Settles claimed messages as settle.lua does, and keeps the ids of those that were handled, so that later offers with them are ignored.
-- The lists of keys and arguments that only some calls send are as in settle.lua.
--
-- KEYS kept messages claims leases attempts followers
--      | delayed dead errors ready wake paused
--      | permits backlog held
-- ARGV kept_for: number, how long an id is kept, ms
--      most: number, maximum number of kept ids
--      handled: text, the positions (from 1, among all ids) of the messages whose ids are to be kept, separated by spaces; empty: all
--      | channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
--      max_dead: number, maximum number of dead letters
--      | groups: text, as in modules/groups.lua
--      count: number, of messages; the next `count` arguments are their groups
--      ...: as in settle.lua
-- Returns how many ids were dropped because there were more than `most`, then the reply of settle.lua. Null if it needs the extra keys; then
--      nothing was written.
--
-- An id is kept if its claim was still held and its message is gone: if a follower has taken the message's place, the id is in use. A call
-- drops at most twice as many ids as it adds, so a set that has become too long shrinks. The key expires when the last id is too old.
--
-- Atomic so that there is no moment at which the message is gone and its id is free. A crash right afterwards leaves both done; after a
-- crash right before, the leases expire, and the messages are handled again.

-- Raises an error before the first write if ids cannot be kept.
local function check(kept)
  call('ZCARD', kept)
  Permissions.check('ZADD', kept, 'PEXPIRE', kept, 'ZREMRANGEBYRANK', kept)
end

-- Returns the ids of the messages to be kept. `at`: the position of the first token; `handled`: as in the header.
local function read_ids(args, at, handled)
  local all = {}
  while args[at] do
    local last = at + 1 + match(args[at + 1], '^%d+')
    for i = at + 2, last do
      all[#all + 1] = args[i]
    end
    at = last + 1
  end
  if handled == '' then
    return all
  end
  local ids = {}
  for place in gmatch(handled, '%d+') do
    ids[tonumber(place)] = all[tonumber(place)]
  end
  return ids
end

-- Returns those of the ids, by position, that settle.lua's reply does not name, and whose messages are gone.
local function only_gone(messages, ids, reply)
  for i = 2, #reply do
    ids[reply[i]] = nil
  end
  local settled, gone = {}, {}
  for _, id in pairs(ids) do
    settled[#settled + 1] = id
  end
  for i, stored in ipairs(#settled > 0 and call('HMGET', messages, unpack(settled)) or {}) do
    if not stored then
      gone[#gone + 1] = settled[i]
    end
  end
  return gone
end

-- Keeps ids from now on, and drops the oldest ones. Returns how many were dropped that were not too old.
local function keep(kept, ids, kept_for, most)
  if #ids == 0 then
    return 0
  end
  local now, scores = Clock.read(), {}
  for i, id in ipairs(ids) do
    scores[2 * i - 1], scores[2 * i] = now, id
  end
  call('ZADD', kept, unpack(scores))
  local too_old = call('ZCOUNT', kept, '-inf', format('%.0f', now - kept_for))
  local dropped = min(max(too_old, call('ZCARD', kept) - most), 2 * #ids)
  if dropped > 0 then
    call('ZREMRANGEBYRANK', kept, '0', dropped - 1)
  end
  call('PEXPIRE', kept, format('%.0f', kept_for))
  return max(0, dropped - too_old)
end

local function short(keys, args)
  local kept, kept_for, most, handled = keys[1], tonumber(args[1]), tonumber(args[2]), args[3]
  check(kept)
  if not Settling.acknowledge({ unpack(keys, 2) }, args, 4) then
    return false
  end
  local ids = {}
  for _, id in pairs(read_ids(args, 4, handled)) do
    ids[#ids + 1] = id
  end
  return { keep(kept, ids, kept_for, most), 0 }
end

local function run(keys, args)
  local q = {
    kept = keys[1], messages = keys[2], claims = keys[3], leases = keys[4], attempts = keys[5], followers = keys[6], delayed = keys[7],
    dead = keys[8], errors = keys[9], ready = keys[10], wake = keys[11], paused = keys[12], permits = keys[13], backlog = keys[14],
    held = keys[15],
  }
  local kept_for, most, handled = tonumber(args[1]), tonumber(args[2]), args[3]
  check(q.kept)
  local reply = Settling.run(q, { unpack(keys, 2) }, { unpack(args, 4) })
  reply = type(reply) == 'table' and reply or { reply }
  local first = q.permits and 9 + args[8] or 7
  local gone = only_gone(q.messages, read_ids(args, first, handled), reply)
  return { keep(q.kept, gone, kept_for, most), unpack(reply) }
end

register('settle_and_keep', { 'allow-oom' }, run, 6, short)
