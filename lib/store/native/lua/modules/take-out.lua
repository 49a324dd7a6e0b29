-- Removes a message from whichever state it is in, with its attempts and its follower. Keeps the record, which the caller overwrites.

-- Raises an error before the first write if one of these keys has the wrong type, or if the user may not change it.
function TakeOut.check(q)
  for _, key in ipairs({ q.delayed, q.leases, q.dead }) do call('ZCARD', key) end
  for _, key in ipairs({ q.claims, q.attempts, q.errors, q.followers }) do call('HLEN', key) end
  call('LLEN', q.ready)
  if q.groups then
    Groups.check(q)
    Permissions.check('LINDEX', q.backlog, 'LREM', q.backlog, 'LINSERT', q.ready)
  end
  Permissions.check(
    'ZREM', q.delayed, 'ZREM', q.dead, 'HDEL', q.errors, 'HGETALL', q.claims, 'HGET', q.claims, 'HSET', q.claims, 'HDEL', q.claims,
    'ZREM', q.leases, 'LREM', q.ready, 'HDEL', q.attempts, 'HDEL', q.followers
  )
end

-- Returns the token of the claim that holds each active message, by id. Reads claims once per call, because the call adds none.
function TakeOut.holders(q)
  q.holders = q.holders or Claims.holders(q.claims)
  return q.holders
end

-- Removes an active message from its claim. Returns a true value if a claim held it.
local function take_from_claim(q, id)
  local token = TakeOut.holders(q)[id]
  local left = token and Ids.without(call('HGET', q.claims, token), id)
  if left then
    Claims.store(q, token, left)
  end
  return left
end

function TakeOut.run(q, id)
  if call('ZREM', q.delayed, q.groups and Groups.member(q, id) or id) == 1 then
    if q.groups then
      Groups.leave_if_held(q, id)
    end
  elseif call('ZREM', q.dead, id) == 1 then
    call('HDEL', q.errors, id)
  elseif take_from_claim(q, id) then
    if q.groups then
      Groups.leave(q, { id })
    end
  elseif q.groups then
    Groups.remove_ready(q, id)
  else
    call('LREM', q.ready, '1', id)
  end
  call('HDEL', q.attempts, id)
  call('HDEL', q.followers, id)
end
