-- Forgets what is kept for an entry; offered.lua describes what that is.
--@include native/permission
--@include entry
--@include offered

-- Raises an error before the first write if a key has another type, or the user may not change what is kept for entries.
local function check_forget()
  redis.call('HLEN', keys.offered)
  redis.call('HLEN', keys.values)
  redis.call('ZCARD', keys.repeated)
  check_permissions('HDEL', keys.offered, 'HGET', keys.values, 'HDEL', keys.values, 'ZREM', keys.repeated)
end

local function forget_offered(id, record)
  redis.call('HDEL', keys.offered, id)
  local value = entry_value(entry_of(record))
  local digest = value and digest_of(value)
  if digest and redis.call('HGET', keys.values, digest) == id then
    redis.call('HDEL', keys.values, digest)
  elseif digest then
    redis.call('ZREM', keys.repeated, place_of(digest, id, record))
  end
end
