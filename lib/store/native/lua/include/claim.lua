-- Takes ready messages under a lease.
--
-- keys: ready, claims, leases, messages, attempts, wake, paused
-- request: token; limit (0-1000); lease in ms; repeated: whether the answer to a claim of this token got lost, so that what it
--      took is answered with; elsewhere: messages that are ready, but not in the list of ready ones
-- Returns more (0 or 1: whether ready messages remain); then, if any were taken, all of them in one string, each as: length of
--      the id (2 bytes, big-endian), failed attempts (4), length of the record (4; 0 if the queue lost it: the id was ready
--      without a message, and is dropped), id, record.

-- Returns the messages as one string, and the ids of those that have a record.
local function pack_taken(keys, ids)
  local records = redis.call('HMGET', keys.messages, unpack(ids))
  local failed = redis.call('HLEN', keys.attempts) > 0 and redis.call('HMGET', keys.attempts, unpack(ids)) or {}
  local taken, present = {}, {}
  for i, id in ipairs(ids) do
    local record = is_record(records[i]) and records[i] or ''
    taken[#taken + 1] = struct.pack('>I2I4I4', #id, tonumber(failed[i] or 0) or 0, #record)
    taken[#taken + 1], taken[#taken + 2] = id, record
    if record ~= '' then
      present[#present + 1] = id
    end
  end
  return table.concat(taken), present
end

local function claim_ready(keys, request)
  local held = redis.call('HGET', keys.claims, request.token) or '\n'
  local taken_before = request.repeated and ids_held(held) or {}
  local is_paused = redis.call('GET', keys.paused)
  if is_paused and #taken_before == 0 then
    return { 0 }
  end

  -- One more than wanted tells whether any remain.
  local ids = redis.call('LRANGE', keys.ready, 0, request.limit)
  local more = #ids > request.limit
  if more then
    table.remove(ids)
  end
  local taken_now = #ids
  if #taken_before > 0 then
    more = more or taken_now > 0
    ids, taken_now, held = taken_before, 0, '\n'
  end
  more = (more or request.elsewhere > 0) and not is_paused

  local tokens_at_door = redis.call('LLEN', keys.wake)
  local reply = { more and 1 or 0 }
  if #ids > 0 then
    local _, now_micros = read_clock()
    redis.call('ZCARD', keys.leases)
    local taken, present = pack_taken(keys, ids)
    reply[2] = taken
    if taken_now > 0 then
      redis.call('LPOP', keys.ready, taken_now)
    end
    if #present > 0 then
      redis.call('HSET', keys.claims, request.token, with_ids(held, present))
      redis.call('ZADD', keys.leases, string.format('%.0f', instant_in(request.lease, now_micros)), request.token)
    end
  end

  if more and tokens_at_door == 0 then
    redis.call('RPUSH', keys.wake, '1')
  elseif not more and tokens_at_door > 0 then
    -- Nothing is left to wake for.
    redis.call('DEL', keys.wake)
  end
  return reply
end
