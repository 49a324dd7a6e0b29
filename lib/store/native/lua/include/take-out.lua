-- Takes a message out of whatever state it is in; its record is left to be overwritten.
--@include permission
--@include held
--@include claims
--@include holders

-- Raises if one of these is of a wrong type, or may not be changed: before the first write.
local function check_take_out()
  for _, key in ipairs({ keys.delayed, keys.leases, keys.dead }) do redis.call('ZCARD', key) end
  for _, key in ipairs({ keys.claims, keys.attempts, keys.errors }) do redis.call('HLEN', key) end
  redis.call('LLEN', keys.ready)
  check_permissions(
    'ZREM', keys.delayed, 'ZREM', keys.dead, 'HDEL', keys.errors, 'HGETALL', keys.claims, 'HGET', keys.claims,
    'HSET', keys.claims, 'HDEL', keys.claims, 'ZREM', keys.leases, 'LREM', keys.ready, 'HDEL', keys.attempts
  )
end

-- The same for all messages that a script takes out: none of them is claimed meanwhile.
local holders

-- Returns whether a claim held it.
local function take_from_claim(id)
  holders = holders or holders_of(keys.claims)
  local token = holders[id]
  local left = token and without_ids(redis.call('HGET', keys.claims, token), id)
  if left then
    store_held(token, left)
  end
  return left
end

local function take_out(id)
  if redis.call('ZREM', keys.delayed, id) == 0 then
    if redis.call('ZREM', keys.dead, id) == 1 then
      redis.call('HDEL', keys.errors, id)
    elseif not take_from_claim(id) then
      redis.call('LREM', keys.ready, 1, id)
    end
  end
  redis.call('HDEL', keys.attempts, id)
end
