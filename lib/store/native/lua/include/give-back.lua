-- Gives messages back unhandled: they are ready again, ahead of all others.
--@include permission
--@include ring

-- Raises an error before the first write if a key has another type, or the user may not change it.
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
  -- While the queue is paused nobody is woken; resume rings for these messages.
  if not redis.call('GET', keys.paused) then
    ring(keys.wake)
  end
end
