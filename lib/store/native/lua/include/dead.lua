--@include permission

-- Raises if a key of dead letters is of a wrong type, or letters cannot be removed: before the first write.
local function check_dead(keys)
  redis.call('ZCARD', keys.dead)
  redis.call('HLEN', keys.errors)
  redis.call('HLEN', keys.messages)
  redis.call('HLEN', keys.attempts)
  check_permissions(
    'ZRANGE', keys.dead, 'ZREM', keys.dead, 'HDEL', keys.errors, 'HDEL', keys.messages, 'HDEL', keys.attempts
  )
end

-- Removes the oldest dead letters beyond the cap, 1000 at most; returns how many.
local function drop_oldest_dead(keys, cap)
  local excess = math.min(redis.call('ZCARD', keys.dead) - cap, 1000)
  if excess <= 0 then
    return 0
  end
  local ids = redis.call('ZRANGE', keys.dead, 0, excess - 1)
  redis.call('ZREM', keys.dead, unpack(ids))
  redis.call('HDEL', keys.errors, unpack(ids))
  redis.call('HDEL', keys.messages, unpack(ids))
  redis.call('HDEL', keys.attempts, unpack(ids))
  return excess
end
