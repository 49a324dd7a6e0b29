-- Where a message is that was offered here: 'delayed', 'ready', or 'taken' by a consumer of Java's.
local function offered_state(entry, value)
  if redis.call('ZSCORE', keys.timeouts, entry) then
    return 'delayed'
  end
  return redis.call('LPOS', keys.target, value) and 'ready' or 'taken'
end
