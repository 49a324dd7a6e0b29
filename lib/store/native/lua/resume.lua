-- Allows claims again.
--
-- KEYS paused ready wake
-- ARGV deadline: text, instant in ms, 0: none
-- Returns 1.
--
-- Atomic so that consumers are woken for messages that became ready during the pause. A crash right afterwards leaves the queue running.
local function run(keys, args)
  local paused, ready, wake, deadline = keys[1], keys[2], keys[3], args[1]
  Clock.check(deadline, (Clock.read()))
  local any_ready = call('LLEN', ready) > 0
  call('LLEN', wake)
  call('GET', paused)
  Permissions.check('DEL', paused, 'RPUSH', wake)
  call('DEL', paused)
  if any_ready then
    Wake.signal(wake)
  end
  return 1
end

register('resume', { 'allow-oom' }, run)
