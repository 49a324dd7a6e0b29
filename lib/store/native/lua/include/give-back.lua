-- Gives messages back unhandled: they are ready again, ahead of all others.
--@include permission
--@include bell

-- Raises an error before the first write if a key has another type, or the user may not change it.
local function check_give_back()
  redis.call('LLEN', keys.ready)
  check_permissions('LPUSH', keys.ready)
  check_bell()
end

local function give_back(ids)
  for i = #ids, 1, -1 do
    redis.call('LPUSH', keys.ready, ids[i])
  end
  ring_for(#ids)
end
