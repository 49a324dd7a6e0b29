-- Allows claims again.
--
-- KEYS paused ready target wake
-- ARGV deadline: text, instant in ms, 0: none
-- Returns 1.
--
-- Atomic so that consumers are woken for messages that became ready meanwhile. A crash right after leaves the queue running.
local function run(keys, args)
  local q = { paused = keys[1], ready = keys[2], target = keys[3], wake = keys[4] }
  local deadline = args[1]
  Clock.check(deadline, (Clock.read()))
  local any_ready = call('LLEN', q.ready) + call('LLEN', q.target) > 0
  call('LLEN', q.wake)
  call('GET', q.paused)
  Permissions.check('DEL', q.paused, 'RPUSH', q.wake)
  call('DEL', q.paused)
  if any_ready then
    Wake.signal(q.wake)
  end
  return 1
end

register('resume', { 'allow-oom' }, run)
