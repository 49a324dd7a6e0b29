-- Removes a message from its state, whichever that is, and its follower; its record stays, to be overwritten.
--@include permission
--@include held
--@include claims
--@include holders
--@with lanes --@include lanes
--@with lanes --@include lines
--@with lanes --@include read-lanes

-- Raises an error before the first write if one of these keys has another type, or the user may not change it.
local function check_take_out()
  for _, key in ipairs({ keys.delayed, keys.leases, keys.dead }) do redis.call('ZCARD', key) end
  for _, key in ipairs({ keys.claims, keys.attempts, keys.errors, keys.followers }) do redis.call('HLEN', key) end
  redis.call('LLEN', keys.ready)
  --@with lanes check_lines()
  --@with lanes check_permissions('LINDEX', keys.line, 'LREM', keys.line, 'LINSERT', keys.ready)
  check_permissions(
    'ZREM', keys.delayed, 'ZREM', keys.dead, 'HDEL', keys.errors, 'HGETALL', keys.claims, 'HGET', keys.claims,
    'HSET', keys.claims, 'HDEL', keys.claims, 'ZREM', keys.leases, 'LREM', keys.ready, 'HDEL', keys.attempts,
    'HDEL', keys.followers
  )
end

-- Read once for all messages that a script removes: claims cannot take messages meanwhile.
local holders

-- Returns a true value if a claim held the message.
local function take_from_claim(id)
  holders = holders or holders_of(keys.claims)
  local token = holders[id]
  local left = token and without_ids(redis.call('HGET', keys.claims, token), id)
  if left then
    store_held(token, left)
  end
  return left
end

local function remove_ready(id)
  redis.call('LREM', keys.ready, 1, id)
end
--@with lanes remove_ready = leave_ready_or_line

local function take_out(id)
  local member = id
  --@with lanes member = member_in_lane(id)
  if redis.call('ZREM', keys.delayed, member) == 0 then
    if redis.call('ZREM', keys.dead, id) == 1 then
      redis.call('HDEL', keys.errors, id)
    elseif not take_from_claim(id) then
      remove_ready(id)
    --@with lanes else
    --@with lanes   leave_lanes({ id })
    end
  --@with lanes else
  --@with lanes   leave_if_held(id)
  end
  redis.call('HDEL', keys.attempts, id)
  redis.call('HDEL', keys.followers, id)
end
