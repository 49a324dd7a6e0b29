#!lua flags=allow-oom
-- Stops claims in all processes.
--
-- KEYS paused
-- ARGV deadline: number, instant in ms, 0: none
-- Returns 1.
--
-- One write; a script only so that it has a deadline and may run when memory is short. A crash right after leaves the queue
-- paused.
--@include clock

check_deadline(args.deadline, (read_clock()))
redis.call('GET', keys.paused) -- raises if the key has another type
redis.call('SET', keys.paused, '1')
return 1
