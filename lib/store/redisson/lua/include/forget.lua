-- Forgets what is kept for an entry; offered.lua describes what that is.
--@include native/permission
--@include offered

local function leave_values(id, record)
  local place = value_place(id, record)
  if place then
    redis.call('ZREM', keys.values, place)
  end
end

-- Raises an error before the first write if the user may not change what is kept for entries.
local function check_forget()
  check_permissions('ZREM', keys.offered, 'HDEL', keys.messages, 'ZREM', keys.values)
end

local function forget_offered(id, record)
  redis.call('ZREM', keys.offered, id)
  redis.call('HDEL', keys.messages, id)
  leave_values(id, record)
end
