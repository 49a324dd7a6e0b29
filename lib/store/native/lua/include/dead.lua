--@include permission

-- Raises if a key of dead letters is of a wrong type, or letters cannot be removed: before the first write.
local function check_dead()
  redis.call('ZCARD', keys.dead)
  redis.call('HLEN', keys.errors)
  redis.call('HLEN', keys.messages)
  redis.call('HLEN', keys.attempts)
  check_permissions(
    'ZRANGE', keys.dead, 'ZREM', keys.dead, 'HDEL', keys.errors, 'HDEL', keys.messages, 'HDEL', keys.attempts
  )
end
