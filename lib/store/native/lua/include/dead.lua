-- Raises if a key of dead letters is of a wrong type, or letters cannot be removed: before the first write.
local function check_dead(dead, errors, messages, attempts)
  redis.call('ZCARD', dead)
  redis.call('HLEN', errors)
  redis.call('HLEN', messages)
  redis.call('HLEN', attempts)
  check_permissions('ZRANGE', dead, 'ZREM', dead, 'HDEL', errors, 'HDEL', messages, 'HDEL', attempts)
end

-- Removes the oldest dead letters beyond the cap, 1000 at most; returns how many.
local function drop_oldest_dead(dead, errors, messages, attempts, cap)
  local excess = math.min(redis.call('ZCARD', dead) - cap, 1000)
  if excess <= 0 then
    return 0
  end
  local ids = redis.call('ZRANGE', dead, 0, excess - 1)
  redis.call('ZREM', dead, unpack(ids))
  redis.call('HDEL', errors, unpack(ids))
  redis.call('HDEL', messages, unpack(ids))
  redis.call('HDEL', attempts, unpack(ids))
  return excess
end
