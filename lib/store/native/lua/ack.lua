#!lua flags=allow-oom
-- Ends claims of messages that were handled, if each claim still holds its ids next to each other, and no message has a follower.
-- Otherwise it changes nothing, and the caller calls settle.
--
-- KEYS messages claims leases attempts followers
--@with lanes --      groups lanes lines members ready wake paused
--@with lanes -- ARGV lanes: text, as in include/lanes.lua
--@with lanes --      ...: for each run of messages with the same claim: token of the claim, how many messages, their ids
-- ARGV ...: for each run of messages with the same claim: token of the claim, how many messages, their ids
-- Returns null if a claim does not hold its ids in that way, or a follower is to be released; otherwise 1.
--
-- Atomic so that fence and outcome are one step. A crash right after leaves the messages gone; a crash right before leaves the leases
-- to expire by themselves. It includes nothing: a part would cost more than all that this script does for a single message.

-- What is left of each claim, by token: usually nothing.
local held, gone, some_left, at = {}, {}, false, FIRST
while at <= #ARGV do
  local token, first, last = ARGV[at], at + 2, at + 1 + ARGV[at + 1]
  local before = held[token] or redis.call('HGET', keys.claims, token)
  local ids = '\n' .. (first == last and ARGV[first] or table.concat(ARGV, '\n', first, last)) .. '\n'
  if before == ids then
    held[token] = '\n'
  else
    local from, to = string.find(before or '', ids, 1, true)
    if not from then
      return false
    end
    held[token] = string.sub(before, 1, from) .. string.sub(before, to + 1)
    some_left = some_left or held[token] ~= '\n'
  end
  for i = first, last do
    gone[#gone + 1] = ARGV[i]
  end
  at = last + 1
end

-- The first write proves by itself that it is permitted, and that its key has the right type; the script proves the others before.
redis.call('ZCARD', keys.leases)
-- Usually neither key exists: attempts are kept only of messages that have failed.
local attempts_kept = 0
if redis.call('EXISTS', keys.attempts, keys.followers) > 0 then
  attempts_kept = redis.call('HLEN', keys.attempts)
  for _, follower in ipairs(redis.call('HMGET', keys.followers, unpack(gone))) do
    if follower then
      return false
    end
  end
end
--@with lanes -- Each lane once: how many slots its messages give back, and the next message of its line, if it has room for one.
--@with lanes local slots = tonumber(string.match(args.lanes, '^%d+'))
--@with lanes slots = slots == 0 and math.huge or slots
--@with lanes local lanes, given, lane_of, members = {}, {}, {}, {}
--@with lanes for i, text in ipairs(redis.call('HMGET', keys.groups, unpack(gone))) do
--@with lanes   if not text then
--@with lanes     return false
--@with lanes   end
--@with lanes   local last = string.find(text, '\n', 1, true)
--@with lanes   local group = last and string.sub(text, 1, last - 1) or text
--@with lanes   members[i] = group .. '\n' .. gone[i]
--@with lanes   local lane = lane_of[group]
--@with lanes   if not lane then
--@with lanes     lane = #lanes + 1
--@with lanes     lanes[lane], given[lane], lane_of[group] = group, 0, lane
--@with lanes   end
--@with lanes   given[lane] = given[lane] + 1
--@with lanes end
--@with lanes local texts, emptied, heads = {}, {}, {}
--@with lanes for lane, text in ipairs(redis.call('HMGET', keys.lanes, unpack(lanes))) do
--@with lanes   if not text or #text ~= 20 then
--@with lanes     return false
--@with lanes   end
--@with lanes   local taken, ready, first, behind = struct.unpack('>I4I4I6I6', text)
--@with lanes   taken = math.max(0, taken - given[lane])
--@with lanes   if first < behind and taken < slots and (taken == 0 or ready == 0) then
--@with lanes     heads[#heads + 1] = lanes[lane] .. '\n' .. first
--@with lanes     taken, ready, first = taken + 1, taken == 0 and 1 or ready + 1, first + 1
--@with lanes   end
--@with lanes   if taken == 0 and first == behind then
--@with lanes     emptied[#emptied + 1] = lanes[lane]
--@with lanes   else
--@with lanes     texts[#texts + 1], texts[#texts + 2] = lanes[lane], struct.pack('>I4I4I6I6', taken, ready, first, behind)
--@with lanes   end
--@with lanes end
--@with lanes local admitted = #heads > 0 and redis.call('HMGET', keys.lines, unpack(heads)) or {}
--@with lanes for _, id in ipairs(admitted) do
--@with lanes   -- A message of the line was replaced.
--@with lanes   if not id then
--@with lanes     return false
--@with lanes   end
--@with lanes end
--@with lanes local wakes = #admitted > 0 and redis.call('LLEN', keys.wake) == 0 and not redis.call('GET', keys.paused)
--@with lanes redis.call('ZCARD', keys.members)
--@with lanes redis.call('LLEN', keys.ready)
local may = redis.acl_check_cmd
if not (may('HDEL', keys.claims, '0') and may('ZREM', keys.leases, '0') and (not some_left or may('HSET', keys.claims, '0', '0'))
  and (attempts_kept == 0 or may('HDEL', keys.attempts, '0'))) then
  return false
end
--@with lanes if not (may('HDEL', keys.groups, '0') and may('ZREM', keys.members, '0') and may('HSET', keys.lanes, '0', '0')
--@with lanes   and may('HDEL', keys.lanes, '0') and may('HDEL', keys.lines, '0') and may('RPUSH', keys.ready, '0')
--@with lanes   and may('RPUSH', keys.wake, '0')) then
--@with lanes   return false
--@with lanes end
redis.call('HDEL', keys.messages, unpack(gone))
if attempts_kept > 0 then
  redis.call('HDEL', keys.attempts, unpack(gone))
end
for token, left in pairs(held) do
  if left == '\n' then
    redis.call('HDEL', keys.claims, token)
    redis.call('ZREM', keys.leases, token)
  else
    redis.call('HSET', keys.claims, token, left)
  end
end
--@with lanes redis.call('HDEL', keys.groups, unpack(gone))
--@with lanes redis.call('ZREM', keys.members, unpack(members))
--@with lanes if #texts > 0 then
--@with lanes   redis.call('HSET', keys.lanes, unpack(texts))
--@with lanes end
--@with lanes if #emptied > 0 then
--@with lanes   redis.call('HDEL', keys.lanes, unpack(emptied))
--@with lanes end
--@with lanes if #admitted > 0 then
--@with lanes   redis.call('HDEL', keys.lines, unpack(heads))
--@with lanes   redis.call('RPUSH', keys.ready, unpack(admitted))
--@with lanes end
--@with lanes if wakes then
--@with lanes   redis.call('RPUSH', keys.wake, '1')
--@with lanes end
return 1
