-- Removes a message that was offered here and is still delayed.
--
-- KEYS timeouts entries offered values repeated
-- ARGV deadline: text, instant in ms, 0: none
--      id: text
-- Returns 'cancelled', 'late' if it is no longer delayed, or 'unknown' if it is not among the messages that were offered here
--      and that no consumer has taken: then it is in the native bookkeeping, or does not exist.
--
-- Atomic so that exactly one of cancel, reschedule and transfer wins, even if Java transfers. A crash right after leaves the
-- message gone.
local function run(keys, args)
  local q = { timeouts = keys[1], entries = keys[2], offered = keys[3], values = keys[4], repeated = keys[5] }
  local deadline, id = args[1], args[2]
  Clock.check(deadline, (Clock.read()))
  local record = call('HGET', q.offered, id)
  if not record then
    return 'unknown'
  end
  local entry = Offered.entry_of(record)
  if not call('ZSCORE', q.timeouts, entry) then
    return 'late'
  end
  Permissions.check('ZREM', q.timeouts)
  Unlist.check(q.entries)
  Forget.check(q)
  Unlist.all(q.entries, { entry })
  call('ZREM', q.timeouts, entry)
  Forget.run(q, id, record)
  return 'cancelled'
end

register('cancel', { 'allow-oom' }, run)
