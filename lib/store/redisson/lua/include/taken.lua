-- Forgets messages that were offered here and taken by consumers of Java's, `most` at most.
--
-- At least as many have been taken as have fallen due beyond those that wait in the target list; the oldest are looked at. While
-- many wait, it is left for later, because each is looked for among them.
local function forget_taken(keys, now, most)
  local waiting = redis.call('LLEN', keys.target)
  local excess = redis.call('ZCOUNT', keys.offered, '-inf', now) - waiting
  if excess <= 0 or waiting > 1000 then
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
      forget_offered(keys, id, record)
    end
  end
end
