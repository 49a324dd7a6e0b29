-- Forgets what is kept beside an entry: offered.lua says what that is.
--@include native/permission
--@include offered

local function leave_values(id, record)
  local place = value_place(id, record)
  if place then
    redis.call('ZREM', keys.values, place)
  end
end

-- Raises if what is kept beside may not be changed: before the first write.
local function check_forget()
  check_permissions('ZREM', keys.offered, 'HDEL', keys.messages, 'ZREM', keys.values)
end

local function forget_offered(id, record)
  redis.call('ZREM', keys.offered, id)
  redis.call('HDEL', keys.messages, id)
  leave_values(id, record)
end
