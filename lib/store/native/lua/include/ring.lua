-- Leaves one token at the doorbell, so that one idle consumer wakes; one that is there already is enough.
local function ring(wake)
  if redis.call('LLEN', wake) == 0 then
    redis.call('RPUSH', wake, '1')
  end
end
