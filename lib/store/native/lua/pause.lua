#!lua flags=allow-oom
-- Stops claims in all processes.
--
-- KEYS 1 paused
-- Returns 1.
--
-- One command; a script only so that it may run when memory is short. A crash right after leaves the queue paused.

local paused = KEYS[1]

redis.call('GET', paused) -- raises if it is somebody else's key
redis.call('SET', paused, '1')
return 1
