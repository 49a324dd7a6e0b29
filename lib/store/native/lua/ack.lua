#!lua flags=allow-oom
-- Ends claims of messages that were handled, if each claim still holds its ids next to each other, and no message has a follower.
-- Otherwise it changes nothing, and the caller calls settle.
--
-- KEYS messages claims leases attempts followers
--@with lanes --      lanes line ready wake paused
--@with lanes -- ARGV lanes: text, as in include/lanes.lua
--@with lanes --      messages: number, how many there are
--@with lanes --      ...: the groups of the messages; then for each run of them with the same claim: token of the claim, how many messages, their ids
-- ARGV ...: for each run of messages with the same claim: token of the claim, how many messages, their ids
-- Returns null if a claim does not hold its ids in that way, or a follower is to be released; otherwise 1.
--
-- Atomic so that fence and outcome are one step. A crash right after leaves the messages gone; a crash right before leaves the leases
-- to expire by themselves. It includes nothing: a part would cost more than all that this script does for a single message.
--@with lanes --@include bell
--@with lanes --@include lanes

-- What is left of each claim, by token: usually nothing.
local held, gone, some_left, at = {}, {}, false, FIRST
--@with lanes local groups = { unpack(ARGV, FIRST, FIRST + args.messages - 1) }
--@with lanes at = FIRST + args.messages
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
--@with lanes check_lanes()
--@with lanes check_bell()
--@with lanes -- Usually no lane has more than one slot, nor had when groups were allowed several: then nothing has to be read of them.
--@with lanes local are_single = slots == 1 and redis.call('HEXISTS', keys.lanes, ANY_WIDE) == 0
--@with lanes if not are_single then
--@with lanes   open_lanes(gone, groups)
--@with lanes end
local may = redis.acl_check_cmd
if not (may('HDEL', keys.claims, '0') and may('ZREM', keys.leases, '0') and (not some_left or may('HSET', keys.claims, '0', '0'))
  and (attempts_kept == 0 or may('HDEL', keys.attempts, '0'))) then
  return false
end
--@with lanes -- As leave_lanes and store_lanes do, for less where groups have a single slot: the next message of the line gets that.
--@with lanes local function pass_slots_on()
--@with lanes   if not are_single then
--@with lanes     leave_lanes(gone)
--@with lanes     return store_lanes()
--@with lanes   end
--@with lanes   local admitted, emptied, last, line, pcall, type = {}, {}, 0, keys.line, redis.pcall, type
--@with lanes   for i = 1, #gone do
--@with lanes     local following = pcall('LPOP', line .. groups[i])
--@with lanes     if type(following) == 'string' then
--@with lanes       last = last + 1
--@with lanes       admitted[last] = following
--@with lanes     else
--@with lanes       emptied[#emptied + 1] = groups[i]
--@with lanes     end
--@with lanes   end
--@with lanes   if #admitted > 0 then
--@with lanes     redis.call('RPUSH', keys.ready, unpack(admitted))
--@with lanes   end
--@with lanes   if #emptied > 0 then
--@with lanes     redis.call('HDEL', keys.lanes, unpack(emptied))
--@with lanes   end
--@with lanes   return #admitted
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
--@with lanes ring_for(pass_slots_on())
return 1
