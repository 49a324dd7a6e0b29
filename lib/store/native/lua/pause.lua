-- Stops claims in all processes.
--
-- KEYS paused
-- ARGV deadline: text, instant in ms, 0: none
-- Returns 1.
--
-- One write, in a function so that it has a deadline and works when memory is short. A crash right afterwards leaves the queue paused.
local function run(keys, args)
  local paused, deadline = keys[1], args[1]
  Clock.check(deadline, (Clock.read()))
  call('GET', paused) -- raises an error if the key has the wrong type
  call('SET', paused, '1')
  return 1
end

register('pause', { 'allow-oom' }, run)
