-- Removes the oldest dead letters beyond `max_dead`, at most 1000 of them. Returns how many.
local function drop_oldest_dead()
  local excess = math.min(redis.call('ZCARD', keys.dead) - args.max_dead, 1000)
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
