-- Reads and changes what claims hold.

-- Raises an error before the first write if the user may not change what claims hold.
function Claims.check_store(q)
  Permissions.check('HSET', q.claims, 'HDEL', q.claims, 'ZREM', q.leases)
end

-- Stores what a claim still holds. If it holds nothing, ends the claim and its lease.
function Claims.store(q, token, held)
  if held == '\n' then
    call('HDEL', q.claims, token)
    call('ZREM', q.leases, token)
  else
    call('HSET', q.claims, token, held)
  end
end

-- Returns the token of the claim that holds each active message, by message id. Reads all claims: each holds at least one message.
function Claims.holders(key)
  local holders, all = {}, call('HGETALL', key)
  for at = 1, #all, 2 do
    for id in gmatch(all[at + 1], '[^\n]+') do
      holders[id] = all[at]
    end
  end
  return holders
end

-- Returns all tokens, sorted, and the stored strings of the claims, by token. An order by lease would change as leases are extended.
function Claims.sorted(key)
  local all, held, tokens = call('HGETALL', key), {}, {}
  for at = 1, #all, 2 do
    tokens[#tokens + 1], held[all[at]] = all[at], all[at + 1]
  end
  sort(tokens)
  return tokens, held
end

-- Returns the numbers of failed attempts of the first `count` of these messages.
function Claims.failed_attempts(attempts, ids, count)
  local failed = count > 0 and call('HMGET', attempts, unpack(ids, 1, count)) or {}
  for i, text in ipairs(failed) do
    failed[i] = tonumber(text or 0) or 0
  end
  return failed
end

function Claims.count(key)
  local count = 0
  for _ in pairs(Claims.holders(key)) do
    count = count + 1
  end
  return count
end

-- Returns how many more messages may become active. `limit`: '<maximum number of active messages>' and, if the queue has messages with and
-- without groups, a space and the key `claims` of the other kind. Reads fewer claims than the limit, because each holds a message.
function Claims.room(q, limit)
  local most, other = match(limit, '^(%d+) ?(.*)$')
  local room, keys = tonumber(most), { q.claims, other ~= '' and other or nil }
  for _, key in ipairs(keys) do
    if call('HLEN', key) >= room then
      return 0
    end
    local all = call('HGETALL', key)
    for i = 2, #all, 2 do
      local at = find(all[i], '\n', 2, true)
      while at do
        room, at = room - 1, find(all[i], '\n', at + 1, true)
      end
    end
  end
  return max(0, room)
end
