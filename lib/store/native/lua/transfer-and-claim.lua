#!lua flags=allow-oom
-- Takes what is due from delayed straight into a lease, if nothing stands in the way: no message is ready, no lease has expired,
-- and the queue is not paused. Otherwise it changes nothing, and the caller transfers and claims in two calls.
--
-- KEYS delayed ready claims leases messages attempts paused ended:token
-- ARGV deadline: text, instant in ms, 0: none
--      teller: text, '<database, as in offer> <scheduler> <when it moved something before, us, -1: never> <channel>': those who
--        listen to the channel are told of this call; empty: they are not
--      token: text, of the claim; a token that has already taken messages, or was replaced, takes none
--      limit: number, maximum number of messages to take (1-64)
--      max_bytes: number, maximum size of the records to take, in bytes; one record is taken whatever its size
--      lease: number, in ms
-- Returns null if something stands in the way; otherwise the next instant in ms at which there is work (-1: none is known), now in
--      microseconds, more (0 or 1: whether more is due), and what was taken, as in claim: failed attempts, then each message.
--
-- Atomic so that a message leaves delayed only into a lease. A crash right after costs the messages their lease and an attempt.
-- It includes nothing: a part would cost more than all that this script does for a single message.

local time = redis.call('TIME')
local now_micros = time[1] * 1000000 + time[2]
local now = (now_micros - now_micros % 1000) / 1000
local may = redis.acl_check_cmd
local inform, may_inform
if args.teller ~= '' then
  local database, scheduler, moved_before, channel = string.match(args.teller, '^(%S+) (%S+) (%S+) (.*)$')
  local is_cluster = database == 'cluster'
  local command = is_cluster and 'SPUBLISH' or 'PUBLISH'
  -- As in tell of include/transfer.lua.
  inform = function(moved_at, next_at)
    local text = string.format('transfer %s %s 0 %d %d %s', scheduler, moved_at or moved_before, now_micros, next_at,
      is_cluster and '0' or database)
    if redis.call(command, channel, text) == 0 and is_cluster then
      redis.call('PUBLISH', channel, text)
    end
  end
  may_inform = may(command, channel, '0')
end

-- Usually none of these keys exists: an empty list is none, and attempts are kept only of messages that have failed.
local attempts_of
if redis.call('EXISTS', keys.ready, keys.paused, keys.ended_token, keys.attempts) > 0 then
  if redis.call('LLEN', keys.ready) > 0 or redis.call('EXISTS', keys.paused, keys.ended_token) > 0 then
    return false
  end
  attempts_of = function(...)
    local failed = redis.call('HMGET', keys.attempts, ...)
    for i, count in ipairs(failed) do
      failed[i] = tonumber(count or 0) or 0
    end
    return table.concat(failed, ' ')
  end
end
local head = redis.call('ZRANGE', keys.delayed, '0', '1', 'WITHSCORES')
local lease_end = tonumber(redis.call('ZRANGE', keys.leases, '0', '0', 'WITHSCORES')[2])
if lease_end and lease_end <= now then
  return false
end
local id, due, next_due = head[1], tonumber(head[2]), tonumber(head[4])
if not due or due > now then
  local next_at = due and lease_end and math.min(due, lease_end) or due or lease_end or -1
  if inform then
    inform(nil, next_at)
  end
  return { next_at, now_micros, 0, '' }
end
if args.deadline ~= '0' and now > tonumber(args.deadline) then
  return false
end

local reply, held, count = { 0, now_micros, 0, '' }, nil, 1
if next_due and next_due <= now and args.limit > 1 then
  local ids = redis.call('ZRANGE', keys.delayed, '-inf', string.format('%d', now), 'BYSCORE', 'LIMIT', '0', args.limit)
  local bytes = 0
  count = 0
  for i, record in ipairs(redis.call('HMGET', keys.messages, unpack(ids))) do
    bytes = bytes + (record and #record or 0)
    if not record or #record < 12 then
      return false
    elseif i > 1 and bytes > args.max_bytes then
      break
    end
    reply[3 + 2 * i], reply[4 + 2 * i] = ids[i], record
    count = i
  end
  if attempts_of then
    reply[4] = attempts_of(unpack(ids, 1, count))
  end
  held = '\n' .. table.concat(ids, '\n', 1, count) .. '\n'
  next_due = tonumber(redis.call('ZRANGE', keys.delayed, count, count, 'WITHSCORES')[2])
else
  local record = redis.call('HGET', keys.messages, id)
  if not record or #record < 12 then
    return false
  end
  if attempts_of then
    reply[4] = attempts_of(id)
  end
  reply[5], reply[6] = id, record
  held = '\n' .. id .. '\n'
end

-- The first write proves by itself that it is permitted, and that the token is fresh; the script proves the others before.
if not (may('ZADD', keys.leases, '0', '0') and may('ZREMRANGEBYRANK', keys.delayed, '0', '0')
  and (not inform or may_inform)) then
  return false
end
if redis.call('HSETNX', keys.claims, args.token, held) == 0 then
  return false
end
-- Rounded up, as in instant_in of include/clock.lua.
local ends = (now_micros > now * 1000 and now + 1 or now) + args.lease
redis.call('ZADD', keys.leases, string.format('%d', ends), args.token)
redis.call('ZREMRANGEBYRANK', keys.delayed, '0', count - 1)
local next_end = lease_end and lease_end < ends and lease_end or ends
local next_at = next_due and next_due < next_end and next_due or next_end
if inform then
  inform(string.format('%d', now_micros), next_at)
end
reply[1], reply[3] = next_at, next_due and next_due <= now and 1 or 0
return reply
