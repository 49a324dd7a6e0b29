-- Forgets what is kept beside an entry: offered.lua says what that is.
--@include native/permission
--@include offered

-- Raises if what is kept beside may not be changed: before the first write.
local function check_forget(keys)
  check_permissions('ZREM', keys.offered, 'HDEL', keys.messages, 'ZREM', keys.values)
end

local function forget_offered(keys, id, record)
  redis.call('ZREM', keys.offered, id)
  redis.call('HDEL', keys.messages, id)
  leave_values(keys.values, id, record)
end
