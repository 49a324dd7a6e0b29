--@include permission

-- Raises an error before the first write if a key of dead letters has another type, or the user may not remove letters.
local function check_dead()
  redis.call('ZCARD', keys.dead)
  redis.call('HLEN', keys.errors)
  redis.call('HLEN', keys.messages)
  redis.call('HLEN', keys.attempts)
  check_permissions(
    'ZRANGE', keys.dead, 'HMGET', keys.errors, 'ZREM', keys.dead, 'HDEL', keys.errors, 'HDEL', keys.messages,
    'HDEL', keys.attempts
  )
end
