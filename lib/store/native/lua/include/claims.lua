-- Reads and changes what claims hold; held.lua says how that is written.
--@include permission

-- The texts of claims, by token; false: it has ended.
local function read_held(claims, tokens)
  local held = {}
  for _, token in ipairs(tokens) do
    if held[token] == nil then
      held[token] = redis.call('HGET', claims, token)
    end
  end
  return held
end

-- Raises if what claims hold may not be changed: before the first write.
local function check_store_held()
  check_permissions('HSET', keys.claims, 'HDEL', keys.claims, 'ZREM', keys.leases)
end

-- A claim that holds nothing any more has ended, and its lease with it.
local function store_held(token, held)
  if held == '\n' then
    redis.call('HDEL', keys.claims, token)
    redis.call('ZREM', keys.leases, token)
  else
    redis.call('HSET', keys.claims, token, held)
  end
end
