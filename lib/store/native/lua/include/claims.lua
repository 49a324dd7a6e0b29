-- Reads and changes what claims hold; held.lua describes the format.
--@include permission

-- The texts of claims, by token; false if a claim has ended.
local function read_held(claims, tokens)
  local held = {}
  for _, token in ipairs(tokens) do
    if held[token] == nil then
      held[token] = redis.call('HGET', claims, token)
    end
  end
  return held
end

-- Raises an error before the first write if the user may not change what claims hold.
local function check_store_held()
  check_permissions('HSET', keys.claims, 'HDEL', keys.claims, 'ZREM', keys.leases)
end

-- A claim that no longer holds anything has ended, and its lease with it.
local function store_held(token, held)
  if held == '\n' then
    redis.call('HDEL', keys.claims, token)
    redis.call('ZREM', keys.leases, token)
  else
    redis.call('HSET', keys.claims, token, held)
  end
end
