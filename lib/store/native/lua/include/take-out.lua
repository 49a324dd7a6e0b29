-- Takes a message out of whatever state it is in; its record is left to be overwritten.
-- keys: delayed, ready, active, claims, attempts, dead, errors

-- Raises if one of these is of a wrong type: before the first write.
local function check_take_out(keys)
  for _, key in ipairs({ keys.delayed, keys.active, keys.dead }) do redis.call('ZCARD', key) end
  for _, key in ipairs({ keys.claims, keys.attempts, keys.errors }) do redis.call('HLEN', key) end
  redis.call('LLEN', keys.ready)
end

local function take_out(keys, id)
  if redis.call('ZREM', keys.delayed, id) == 0 then
    if redis.call('ZREM', keys.active, id) == 1 then
      redis.call('HDEL', keys.claims, id)
    elseif redis.call('ZREM', keys.dead, id) == 1 then
      redis.call('HDEL', keys.errors, id)
    else
      redis.call('LREM', keys.ready, 1, id)
    end
  end
  redis.call('HDEL', keys.attempts, id)
end
