#!lua flags=allow-oom
-- Stops claims in all processes.
--
-- KEYS 1 paused
-- ARGV 1 deadline in ms, 0: none
-- Returns 1.
--
-- One command; a script only so that it may run when memory is short. A crash right after leaves the queue paused.
--@include clock
--@include deadline

local paused = KEYS[1]

check_deadline(tonumber(ARGV[1]), (read_clock()))
redis.call('GET', paused) -- raises if it is somebody else's key
redis.call('SET', paused, '1')
return 1
