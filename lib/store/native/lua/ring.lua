#!lua flags=allow-oom
-- Rings for ready messages, if there are any and the queue is not paused.
--
-- KEYS ready wake paused
-- Returns 1 if there is a token at the doorbell now, else 0.
--
-- Atomic so that a token is left only while messages are ready. A crash right after leaves the token for the next consumer.
--@include ring

local ready = redis.call('LLEN', keys.ready)
if ready == 0 or redis.call('GET', keys.paused) then
  return 0
end
ring(keys.wake)
return 1
