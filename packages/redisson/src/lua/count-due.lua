-- Counts delayed messages by due time: the entries of Redisson's and the messages that wait for another attempt.
--
-- KEYS timeouts delayed
-- ARGV ...: due times, as in count-due of the native layout
-- Returns the same as count-due of the native layout.
--
-- Atomic so that every message is counted exactly once. Writes nothing.
local function run(keys, args)
  local timeouts, delayed = keys[1], keys[2]
  local counts = {}
  for i = 0, #args do
    local from, to = args[i] or '-inf', args[i + 1] and '(' .. args[i + 1] or '+inf'
    counts[i + 1] = call('ZCOUNT', timeouts, from, to) + call('ZCOUNT', delayed, from, to)
  end
  return counts
end

register('count_due', { 'no-writes' }, run)
