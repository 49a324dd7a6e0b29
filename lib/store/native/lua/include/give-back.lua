-- Gives messages back unhandled: they are ready again before all others.
--@include permission
--@include ring

-- Raises if a key is of a wrong type, or may not be changed: before the first write.
local function check_give_back()
  redis.call('LLEN', keys.ready)
  redis.call('GET', keys.paused)
  redis.call('LLEN', keys.wake)
  check_permissions('LPUSH', keys.ready, 'RPUSH', keys.wake)
end

local function give_back(ids)
  if #ids == 0 then
    return
  end
  for i = #ids, 1, -1 do
    redis.call('LPUSH', keys.ready, ids[i])
  end
  -- Resuming rings for what becomes ready while the queue is paused.
  if not redis.call('GET', keys.paused) then
    ring(keys.wake)
  end
end
