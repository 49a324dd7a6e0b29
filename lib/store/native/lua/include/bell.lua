-- Rings for messages that have come into the list of ready ids.
--@include permission
--@include ring

local is_paused

-- Raises an error before the first write if the doorbell has another type, or the user may not ring it.
local function check_bell()
  redis.call('LLEN', keys.wake)
  check_permissions('RPUSH', keys.wake)
  is_paused = redis.call('GET', keys.paused)
end

-- While the queue is paused nobody is woken; resume rings for these messages.
local function ring_for(count)
  if count > 0 and not is_paused then
    ring(keys.wake)
  end
end
