#!lua flags=allow-oom
-- Rings for ready messages, those in the target list included, if there are any and the queue is not paused.
--
-- KEYS ready target wake paused
-- Returns 1 if it rang, or somebody else had, else 0.
--
-- Atomic so that a token is left only while messages are ready. A crash right after leaves it for the next consumer.
--@include native/ring

local ready = redis.call('LLEN', keys.ready) + redis.call('LLEN', keys.target)
if ready == 0 or redis.call('GET', keys.paused) then
  return 0
end
ring(keys.wake)
return 1
