#!lua flags=allow-oom
-- Moves what is due from delayed to ready, and takes back what is active on an expired lease.
--
-- KEYS 1 delayed  2 ready  3 active  4 claims  5 attempts  6 messages  7 dead  8 errors  9 wake  10 mover
--      11 paused
-- ARGV 1 scheduler that asks
--      2 most messages to move, and most leases to take back (1-1000)
--      3 attempts a message has
--      4 most dead letters
--      5 error of a dead letter whose lease expired, JSON
-- Returns moved, recovered (ready again), buried (dead now), dropped (oldest dead letters), more (0 or 1), ready messages,
--      now in microseconds, next instant in ms at which there is work (-1: none is known), last mover as
--      '<scheduler> <ms>' (empty: none is known).
--
-- Atomic so that a message is never in two states and never in none, and so that ready messages always have a token at the
-- doorbell. A crash right after leaves them ready, with the token waiting for the next consumer.
--@include clock
--@include ring
--@include dead

local delayed, ready, active, claims, attempts, messages, dead, errors, wake, mover, paused = unpack(KEYS)
local scheduler, limit = ARGV[1], tonumber(ARGV[2])
local max_attempts, max_dead, lease_error = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

local now, now_micros = read_clock()

-- The lowest score of a sorted set; nil: it is empty. An idle check ends after the two of these and two more reads.
local function lowest(key)
  return tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
end

local function up_to_now(key, first)
  if first == nil or first > now then
    return {}
  end
  return redis.call('ZRANGE', key, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)
end

local next_due, next_lease_end = lowest(delayed), lowest(active)
local due = up_to_now(delayed, next_due)
local expired = up_to_now(active, next_lease_end)
local ready_count = redis.call('LLEN', ready)
local last_move = redis.call('GET', mover) or ''
if #due > 0 then
  last_move = scheduler .. ' ' .. string.format('%.0f', now)
end
local is_paused = false
if ready_count + #due + #expired > 0 then
  redis.call('LLEN', wake)
  is_paused = redis.call('GET', paused)
end

local recovered, buried, dropped = 0, 0, 0
if #expired > 0 then
  redis.call('HLEN', claims)
  check_dead(dead, errors, messages, attempts)
  local failed = redis.call('HMGET', attempts, unpack(expired))
  local spent, again, letters, causes = {}, {}, {}, {}
  for i, id in ipairs(expired) do
    local count = (tonumber(failed[i] or 0) or 0) + 1
    spent[#spent + 1], spent[#spent + 2] = id, count
    if count < max_attempts then
      again[#again + 1] = id
    else
      letters[#letters + 1], letters[#letters + 2] = now, id
      causes[#causes + 1], causes[#causes + 2] = id, lease_error
    end
  end
  recovered, buried = #again, #letters / 2

  redis.call('ZREM', active, unpack(expired))
  redis.call('HDEL', claims, unpack(expired))
  redis.call('HSET', attempts, unpack(spent))
  if recovered > 0 then
    redis.call('RPUSH', ready, unpack(again))
  end
  if buried > 0 then
    redis.call('ZADD', dead, unpack(letters))
    redis.call('HSET', errors, unpack(causes))
    dropped = drop_oldest_dead(dead, errors, messages, attempts, max_dead)
  end
  next_lease_end = lowest(active)
end

if #due > 0 then
  -- They are the lowest scores there are, so their ranks name them.
  redis.call('ZREMRANGEBYRANK', delayed, 0, #due - 1)
  redis.call('RPUSH', ready, unpack(due))
  redis.call('SET', mover, last_move)
  next_due = lowest(delayed)
end

ready_count = ready_count + #due + recovered
-- Resuming rings for what becomes ready while the queue is paused.
if ready_count > 0 and not is_paused then
  ring(wake)
end

local next_at = next_due or next_lease_end or -1
if next_due and next_lease_end then
  next_at = math.min(next_due, next_lease_end)
end
local more = (#due == limit or #expired == limit) and 1 or 0
return { #due, recovered, buried, dropped, more, ready_count, now_micros, next_at, last_move }
