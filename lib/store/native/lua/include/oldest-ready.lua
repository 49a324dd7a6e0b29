--@include record

-- The due time of the first message in the list of ready ids, which is the next to be claimed; -1: there is none.
local function oldest_ready()
  local id = redis.call('LRANGE', keys.ready, 0, 0)[1]
  return id and record_due(redis.call('HGET', keys.messages, id)) or -1
end
