-- Takes ready messages under a lease: claim.lua says what is asked and answered.
--
-- keys: ready, claims, leases, messages, attempts, wake, paused, ended, ended_now

-- How long a token is remembered to take nothing: as long as a call may be under way, the longest offerTimeout.
local ENDED_KEPT_MS = 600000

local function read_claim_request(arguments)
  local max_bytes = tonumber(arguments[5])
  return {
    token = arguments[2], instead_of = arguments[3], limit = tonumber(arguments[4]),
    max_bytes = max_bytes > 0 and max_bytes or math.huge, lease = tonumber(arguments[6]),
  }
end

-- A token takes once; and not at all, once another claim has come in its place.
local function has_taken(keys, token)
  return redis.call('GET', keys.ended) or redis.call('HGET', keys.claims, token)
end

-- Raises if what a claim changes may not be changed: before the first write.
local function check_claim_permissions(keys)
  check_permissions(
    'LPOP', keys.ready, 'LPUSH', keys.ready, 'HSET', keys.claims, 'ZADD', keys.leases, 'RPUSH', keys.wake, 'DEL', keys.wake
  )
  if keys.ended_now then
    check_permissions('SET', keys.ended_now, 'HDEL', keys.claims, 'ZREM', keys.leases)
  end
end

-- What the claim holds in whose place this one comes.
local function passed_on_by(claims, instead_of)
  return instead_of == '' and {} or ids_held(redis.call('HGET', claims, instead_of) or '\n')
end

-- Returns how many of the messages are taken, these as one string, and the ids of those that have a record.
local function pack_taken(keys, ids, max_bytes)
  local records = read_within(#ids, max_bytes, function(first, last)
    return redis.call('HMGET', keys.messages, unpack(ids, first, last))
  end)
  local failed = redis.call('HLEN', keys.attempts) > 0 and redis.call('HMGET', keys.attempts, unpack(ids)) or {}
  local taken, present = {}, {}
  for i, value in ipairs(records) do
    local id, record = ids[i], is_record(value) and value or ''
    taken[#taken + 1] = struct.pack('>I2I4I4', #id, tonumber(failed[i] or 0) or 0, #record)
    taken[#taken + 1], taken[#taken + 2] = id, record
    if record ~= '' then
      present[#present + 1] = id
    end
  end
  return #records, table.concat(taken), present
end

-- `elsewhere`: messages that are ready, but not in the list of ready ones.
local function claim_ready(keys, request, elsewhere)
  local token, instead_of = request.token, request.instead_of
  local passed_on = passed_on_by(keys.claims, instead_of)
  local is_paused = redis.call('GET', keys.paused)
  local ready = redis.call('LLEN', keys.ready)
  local tokens_at_door = redis.call('LLEN', keys.wake)
  redis.call('ZCARD', keys.leases)

  local ids = passed_on
  if #passed_on == 0 and not is_paused and not has_taken(keys, token) and request.limit > 0 then
    ids = redis.call('LRANGE', keys.ready, 0, request.limit - 1)
  end
  local count, taken, present = 0, '', {}
  if #ids > 0 and request.limit > 0 then
    count, taken, present = pack_taken(keys, { unpack(ids, 1, math.min(#ids, request.limit)) }, request.max_bytes)
  end
  local popped = #passed_on == 0 and count or 0
  local given_back = #passed_on - (count - popped)
  local more = not is_paused and ready - popped + given_back + elsewhere > 0

  check_claim_permissions(keys)
  if popped > 0 then
    redis.call('LPOP', keys.ready, popped)
  end
  for i = #passed_on, #passed_on - given_back + 1, -1 do
    redis.call('LPUSH', keys.ready, passed_on[i])
  end
  local _, now_micros = read_clock()
  local lease_end = string.format('%.0f', instant_in(request.lease, now_micros))
  if keys.ended_now then
    redis.call('SET', keys.ended_now, '1', 'PX', ENDED_KEPT_MS)
    redis.call('HDEL', keys.claims, instead_of)
    redis.call('ZREM', keys.leases, instead_of)
  end
  if #present > 0 then
    redis.call('HSET', keys.claims, token, with_ids('\n', present))
    redis.call('ZADD', keys.leases, lease_end, token)
  end
  if more and tokens_at_door == 0 then
    redis.call('RPUSH', keys.wake, '1')
  elseif not more and tokens_at_door > 0 then
    -- Nothing is left to wake for.
    redis.call('DEL', keys.wake)
  end
  return count > 0 and { more and 1 or 0, taken } or { more and 1 or 0 }
end
