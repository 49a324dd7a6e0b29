-- The state of a message that was offered here: 'delayed', 'ready', or 'taken' by a Java consumer.
local function offered_state(entry, value)
  if redis.call('ZSCORE', keys.timeouts, entry) then
    return 'delayed'
  end
  return redis.call('LPOS', keys.target, value) and 'ready' or 'taken'
end
