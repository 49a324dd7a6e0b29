-- Signals ready messages, including those in the target list, if there are any and the queue is not paused.
--
-- KEYS ready target wake paused
-- Returns 1 if there is a wake-up signal now, else 0.
--
-- Atomic so that a signal is left only while messages are ready. A crash right after leaves it for the next consumer.
local function run(keys, args)
  local q = { ready = keys[1], target = keys[2], wake = keys[3], paused = keys[4] }
  local ready = call('LLEN', q.ready) + call('LLEN', q.target)
  if ready == 0 or call('GET', q.paused) then
    return 0
  end
  Wake.signal(q.wake)
  return 1
end

register('signal', { 'allow-oom' }, run)
