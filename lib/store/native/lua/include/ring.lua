-- Leaves a token at the doorbell, unless there is one already, so that one idle consumer wakes.
local function ring(wake)
  if redis.call('LLEN', wake) == 0 then
    redis.call('RPUSH', wake, '1')
  end
end
