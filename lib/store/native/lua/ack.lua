#!lua flags=allow-oom
-- Ends claims of messages that were handled, if each claim still holds its ids next to each other, and no message has a follower.
-- Otherwise it changes nothing, and the caller calls settle.
--
-- KEYS messages claims leases attempts followers
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
local may = redis.acl_check_cmd
if not (may('HDEL', keys.claims, '0') and may('ZREM', keys.leases, '0') and (not some_left or may('HSET', keys.claims, '0', '0'))
  and (attempts_kept == 0 or may('HDEL', keys.attempts, '0'))) then
  return false
end
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
return 1
