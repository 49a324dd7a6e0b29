#!lua flags=allow-oom
-- Allows claims again.
--
-- KEYS 1 paused  2 ready  3 target  4 wake
-- Returns 1.
--
-- Atomic so that messages that became ready meanwhile are rung for. A crash right after leaves the queue going.
--@include native/ring

local paused, ready, target, wake = unpack(KEYS)

local any_ready = redis.call('LLEN', ready) + redis.call('LLEN', target) > 0
redis.call('LLEN', wake)
redis.call('GET', paused)
redis.call('DEL', paused)
if any_ready then
  ring(wake)
end
return 1
