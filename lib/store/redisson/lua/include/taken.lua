--@include native/permission
--@include entry
--@include offered
--@include state
--@include forget

-- Raises if a key that is only looked at to forget messages is of a wrong type, or may not be looked at or changed: before
-- the first write.
local function check_forget_taken()
  redis.call('LLEN', keys.target)
  redis.call('ZCARD', keys.values)
  check_permissions(
    'ZCOUNT', keys.offered, 'ZRANGE', keys.offered, 'ZCOUNT', keys.timeouts, 'ZSCORE', keys.timeouts, 'LPOS', keys.target,
    'HGET', keys.messages
  )
  check_forget()
end

-- Forgets messages that were offered here and taken by consumers of Java's, `most` at most: those that fell due first.
--
-- At least as many have been taken as have fallen due beyond those that wait, be it for a transfer or in the target list. While
-- many wait there, it is left for later, because each is looked for among them.
local function forget_taken(now, most)
  local due = redis.call('ZCOUNT', keys.offered, '-inf', now)
  local waiting = due > 0 and redis.call('LLEN', keys.target) or 0
  if due <= waiting or waiting > 1000 then
    return
  end
  local excess = due - waiting - redis.call('ZCOUNT', keys.timeouts, '-inf', now)
  if excess <= 0 then
    return
  end
  local ids = redis.call('ZRANGE', keys.offered, '-inf', now, 'BYSCORE', 'LIMIT', 0, math.min(excess, most))
  for _, id in ipairs(ids) do
    local record = redis.call('HGET', keys.messages, id)
    local entry = record and entry_of(record)
    local value = entry and entry_value(entry)
    if not value then
      redis.call('ZREM', keys.offered, id)
    elseif offered_state(entry, value) == 'taken' then
      forget_offered(id, record)
    end
  end
end
