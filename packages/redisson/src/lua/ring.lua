#!lua flags=allow-oom
-- Rings for ready messages, including those in the target list, if there are any and the queue is not paused.
--
-- KEYS ready target wake paused
-- Returns 1 if there is a token at the doorbell now, else 0.
--
-- Atomic so that a token is left only while messages are ready. A crash right after leaves the token for the next consumer.
--@include native/ring

local ready = redis.call('LLEN', keys.ready) + redis.call('LLEN', keys.target)
if ready == 0 or redis.call('GET', keys.paused) then
  return 0
end
ring(keys.wake)
return 1
