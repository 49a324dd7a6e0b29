-- Takes ready messages under a lease; claim.lua describes the arguments and the reply.
--@include clock
--@include permission
--@include record
--@include held
--@include set
--@with lanes --@include turns

-- How long a token is remembered as ended: as long as a call may be under way, which is the longest offerTimeout.
local ENDED_KEPT_MS = 600000

local function most_bytes()
  local max_bytes = args.max_bytes
  return max_bytes > 0 and max_bytes or math.huge
end

-- A token takes messages only once, and none at all after another claim has replaced it.
local function has_taken()
  return redis.call('GET', keys.ended_token) or redis.call('HGET', keys.claims, args.token)
end

-- Raises an error before the first write if the user may not change what a claim changes.
local function check_claim_permissions()
  check_permissions('LPOP', keys.ready, 'HSET', keys.claims, 'ZADD', keys.leases, 'RPUSH', keys.wake)
  if args.rate ~= '' then
    check_permissions('SET', keys.rate)
    --@with lanes check_permissions('SET', keys.awaited)
  end
  if keys.ended_instead_of then
    check_permissions('SET', keys.ended_instead_of, 'LPUSH', keys.ready, 'HDEL', keys.claims, 'ZREM', keys.leases)
  end
end

-- What the claim that this one replaces holds.
local function passed_on()
  return args.instead_of == '' and {} or ids_held(redis.call('HGET', keys.claims, args.instead_of) or '\n')
end

-- How many records are read at a time: each may be as large as a payload, and perhaps not all are taken.
local READ_AT_ONCE = 64

-- The records of these messages from position `first` to `last`. `known`: records by id, if the script has read them already.
local function records_of(ids, first, last, known)
  local records = {}
  for at = first, last do
    records[#records + 1] = known and known[ids[at]]
  end
  return #records == last - first + 1 and records or redis.call('HMGET', keys.messages, unpack(ids, first, last))
end

-- Appends the first of these messages to a reply, each as its id and its record (false: there is none): at most `most`, and
-- `max_bytes` of records, but at least one unless `most` is 0. Returns how many, and the ids of those that have a record.
local function append_taken(reply, ids, most, max_bytes, known)
  local present, count, bytes, at = {}, 0, 0, #reply
  while count < most do
    for _, value in ipairs(records_of(ids, count + 1, math.min(count + READ_AT_ONCE, most), known)) do
      local record = is_record(value) and value
      bytes = bytes + (record and #record or 0)
      if bytes > max_bytes and count > 0 then
        return count, present
      end
      count = count + 1
      reply[at + 1], reply[at + 2] = ids[count], record
      at = at + 2
      if record then
        present[#present + 1] = ids[count]
      end
    end
  end
  return count, present
end

-- The failed attempts of the first of these messages, as text; empty if no message of the queue has failed.
local function failed_attempts(ids, count)
  if count == 0 or redis.call('HLEN', keys.attempts) == 0 then
    return ''
  end
  local failed = redis.call('HMGET', keys.attempts, unpack(ids, 1, count))
  for i = 1, count do
    failed[i] = tonumber(failed[i] or 0) or 0
  end
  return table.concat(failed, ' ')
end

-- Whoever reuses the ids of messages that are gone starts with no failed attempt.
local function forget_attempts(ids, count, present)
  local is_present, lost = set_of(present), {}
  for i = 1, count do
    if not is_present[ids[i]] then
      lost[#lost + 1] = ids[i]
    end
  end
  redis.call('HDEL', keys.attempts, unpack(lost))
end

-- `rate`: from read_rate; `elsewhere`: how many messages are ready but not in the list of ready ids; `known`: as in records_of.
local function claim_ready(now_micros, rate, elsewhere, known)
  local passed = passed_on()
  local limit = has_taken() and 0 or args.limit
  local is_paused = redis.call('GET', keys.paused)
  local ready, tokens_at_door = redis.call('LLEN', keys.ready), redis.call('LLEN', keys.wake)
  redis.call('ZCARD', keys.leases)

  local ids = passed
  --@with lanes local in_list = 0
  local most = rate and math.min(limit, rate.room) or limit
  if #passed == 0 and not is_paused and most > 0 then
    ids = redis.call('LRANGE', keys.ready, 0, most - 1)
    --@with lanes in_list = #ids
    --@with lanes if has_turns() and #ids > 0 and #ids < most then
    --@with lanes   ready = ready + top_up(ids, most)
    --@with lanes end
  end
  local reply = { 0, now_micros, -1, '' }
  local count, present = append_taken(reply, ids, math.min(limit, #ids), most_bytes(), known)
  reply[4] = failed_attempts(ids, count)
  local popped = #passed == 0 and count or 0
  local given_back = #passed - (count - popped)
  local more = not is_paused and ready - popped + given_back + elsewhere > 0
  --@with lanes more = more or not is_paused and popped > 0 and lines_go_on({ unpack(ids, 1, count) })
  local counts = rate and #passed == 0 and #present > 0
  if counts then
    rate.count(#present)
  end
  -- The caller waits for the rate only if it has a free slot left; otherwise the one that is rung for will.
  local claim_again_in = -1
  if rate and rate.room == 0 and more and #passed == 0 and count < limit then
    more, claim_again_in = false, rate.await()
  end
  -- There is a token, but nothing left to wake a consumer for.
  local is_bell_stale = not more and tokens_at_door > 0

  check_claim_permissions()
  --@with lanes if has_turns() or #present < count then
  --@with lanes   check_turns()
  --@with lanes end
  local has_stale_attempts = #present < count and reply[4] ~= ''
  if has_stale_attempts then
    check_permissions('HDEL', keys.attempts)
  end
  if is_bell_stale then
    check_permissions('DEL', keys.wake)
  end
  if popped > 0 then
    redis.call('LPOP', keys.ready, popped)
    --@with lanes leave_to_claim(ids, count, in_list, present)
  end
  for i = #passed, #passed - given_back + 1, -1 do
    redis.call('LPUSH', keys.ready, passed[i])
  end
  --@with lanes return_to_turns({ unpack(passed, #passed - given_back + 1) })
  if keys.ended_instead_of then
    redis.call('SET', keys.ended_instead_of, '1', 'PX', ENDED_KEPT_MS)
    redis.call('HDEL', keys.claims, args.instead_of)
    redis.call('ZREM', keys.leases, args.instead_of)
  end
  if #present > 0 then
    redis.call('HSET', keys.claims, args.token, with_ids('\n', present))
    redis.call('ZADD', keys.leases, string.format('%.0f', instant_in(args.lease, now_micros)), args.token)
  end
  if has_stale_attempts then
    forget_attempts(ids, count, present)
  end
  if counts or claim_again_in >= 0 then
    rate.store()
  end
  if more and tokens_at_door == 0 then
    redis.call('RPUSH', keys.wake, '1')
  elseif is_bell_stale then
    redis.call('DEL', keys.wake)
  end
  reply[1], reply[3] = more and 1 or 0, claim_again_in
  return reply
end
