-- Removes a message from its state, whichever it is, and removes its follower. The record stays, to be overwritten.

-- Raises an error before the first write if one of these keys has another type, or the user may not change it.
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

-- Returns the holder of each message. Read once per call, because claims cannot take messages during the call.
function TakeOut.holders(q)
  q.holders = q.holders or Claims.holders(q.claims)
  return q.holders
end

-- Returns a true value if a claim held the message.
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
