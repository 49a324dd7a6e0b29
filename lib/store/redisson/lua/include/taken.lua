-- Forgets messages that were offered here and taken by consumers of Java's, `most` at most.
--
-- At least as many have been taken as have fallen due beyond those that wait in the target list; the oldest are looked at.
local function forget_taken(keys, now, most)
  local excess = redis.call('ZCOUNT', keys.offered, '-inf', now) - redis.call('LLEN', keys.target)
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
    elseif offered_state(keys, entry, value) == 'taken' then
      forget_offered(keys, id, value)
    end
  end
end
