#!lua flags=allow-oom
-- Allows claims again.
--
-- KEYS 1 paused  2 ready  3 target  4 wake
-- ARGV 1 deadline in ms, 0: none
-- Returns 1.
--
-- Atomic so that messages that became ready meanwhile are rung for. A crash right after leaves the queue going.
--@include native/clock
--@include native/deadline
--@include native/permission
--@include native/ring

local paused, ready, target, wake = unpack(KEYS)

check_deadline(tonumber(ARGV[1]), (read_clock()))
local any_ready = redis.call('LLEN', ready) + redis.call('LLEN', target) > 0
redis.call('LLEN', wake)
redis.call('GET', paused)
check_permissions('DEL', paused, 'RPUSH', wake)
redis.call('DEL', paused)
if any_ready then
  ring(wake)
end
return 1
