-- Reads and changes what claims hold.

-- The texts of claims, by token; false if a claim has ended.
function Claims.read(key, tokens)
  local held = {}
  for _, token in ipairs(tokens) do
    if held[token] == nil then
      held[token] = call('HGET', key, token)
    end
  end
  return held
end

-- Raises an error before the first write if the user may not change what claims hold.
function Claims.check_store(q)
  Permissions.check('HSET', q.claims, 'HDEL', q.claims, 'ZREM', q.leases)
end

-- A claim that no longer holds anything has ended, and its lease with it.
function Claims.store(q, token, held)
  if held == '\n' then
    call('HDEL', q.claims, token)
    call('ZREM', q.leases, token)
  else
    call('HSET', q.claims, token, held)
  end
end

-- The tokens of the claims that hold messages, by id. There are never more claims than active messages.
function Claims.holders(key)
  local holders, all = {}, call('HGETALL', key)
  for at = 1, #all, 2 do
    for id in gmatch(all[at + 1], '[^\n]+') do
      holders[id] = all[at]
    end
  end
  return holders
end

function Claims.count(key)
  local count = 0
  for _ in pairs(Claims.holders(key)) do
    count = count + 1
  end
  return count
end
