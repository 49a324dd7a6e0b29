-- Takes the wake-up signals of several queues.
--
-- ARGV ...: the signal of each queue, a list
-- Returns the position (from 1) of each list that had a signal.
--
-- The keys are among the arguments, because a layout declares one signal, and these are signals of several queues. A signal guarantees
-- nothing, so nothing needs to be atomic. A crash right afterwards loses the signals, which the next transfers replace.
local function run(_, args)
  local taken = {}
  for at = 1, #args do
    if call('LLEN', args[at]) > 0 then
      call('DEL', args[at])
      taken[#taken + 1] = at
    end
  end
  return taken
end

register('take_signals', { 'allow-oom' }, run)
