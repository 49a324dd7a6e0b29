-- Leaves the wake-up signal if messages are ready and the queue is not paused.
--
-- KEYS ready wake paused
-- Returns 1 if there is a wake-up signal now, else 0.
--
-- Atomic so that a signal is left only while messages are ready. A crash right afterwards leaves the signal for the next consumer.
local function run(keys)
  local ready, wake, paused = keys[1], keys[2], keys[3]
  if call('LLEN', ready) == 0 or call('GET', paused) then
    return 0
  end
  Wake.signal(wake)
  return 1
end

register('signal', { 'allow-oom' }, run)
