--@include native/permission
--@include entry
--@include offered
--@include state
--@include forget

-- Raises an error before the first write if a key that is needed to forget messages has another type, or the user may not read
-- or change it.
local function check_forget_taken()
  redis.call('LLEN', keys.target)
  redis.call('ZCARD', keys.values)
  check_permissions(
    'ZCOUNT', keys.offered, 'ZRANGE', keys.offered, 'ZCOUNT', keys.timeouts, 'ZSCORE', keys.timeouts, 'LPOS', keys.target,
    'HGET', keys.messages
  )
  check_forget()
end

-- Forgets messages that were offered here and taken by Java consumers: at most `most` of them, those that fell due first.
--
-- Messages that have fallen due but wait neither for a transfer nor in the target list must have been taken. While many wait in
-- the target list, this is left for later, because each message is searched for among them.
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
