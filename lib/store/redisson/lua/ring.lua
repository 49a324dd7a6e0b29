#!lua flags=allow-oom
-- Rings for ready messages, those in the target list included, if there are any and the queue is not paused.
--
-- KEYS ready target wake paused
-- Returns 1 if it rang, or somebody else had, else 0.
--
-- Atomic so that a token is left only while messages are ready. A crash right after leaves it for the next consumer.
--@include native/permission
--@include native/ring

local ready = redis.call('LLEN', keys.ready) + redis.call('LLEN', keys.target)
redis.call('LLEN', keys.wake)
if redis.call('GET', keys.paused) or ready == 0 then
  return 0
end
check_permissions('RPUSH', keys.wake)
ring(keys.wake)
return 1
