#!lua flags=allow-oom
-- Allows claims again.
--
-- KEYS paused ready target wake
-- ARGV as native/resume
-- Returns 1.
--
-- Atomic so that consumers are woken for messages that became ready meanwhile. A crash right after leaves the queue running.
--@include native/clock
--@include native/permission
--@include native/ring

check_deadline(args.deadline, (read_clock()))
local any_ready = redis.call('LLEN', keys.ready) + redis.call('LLEN', keys.target) > 0
redis.call('LLEN', keys.wake)
redis.call('GET', keys.paused)
check_permissions('DEL', keys.paused, 'RPUSH', keys.wake)
redis.call('DEL', keys.paused)
if any_ready then
  ring(keys.wake)
end
return 1
