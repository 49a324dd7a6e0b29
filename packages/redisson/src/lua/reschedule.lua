-- Changes the due time of a message that was offered here and is still delayed.
--
-- KEYS timeouts offered values repeated
-- ARGV deadline: text, instant in ms, 0: none
--      id: text
--      due: text, '+' and a delay, or '@' and an instant, in ms
--      channel: text, of announcements, Redisson's
-- Returns 'moved', 'late' if it is no longer delayed, or 'unknown' if it is not among the messages that were offered here and
--      that no consumer has taken.
--
-- Atomic so that exactly one of cancel, reschedule and transfer wins, and so that score and record agree. A crash right after
-- leaves the message with its new due time; a lost announcement costs a check interval.
local function run(keys, args)
  local q = { timeouts = keys[1], offered = keys[2], values = keys[3], repeated = keys[4] }
  local deadline, id, due, channel = args[1], args[2], args[3], args[4]
  local now, now_micros = Clock.read()
  Clock.check(deadline, now)
  local earliest_before = Scores.lowest(q.timeouts)
  local record = call('HGET', q.offered, id)
  if not record then
    return 'unknown'
  end
  local entry = Offered.entry_of(record)
  if not call('ZSCORE', q.timeouts, entry) then
    return 'late'
  end

  local instant = Clock.due(due, now_micros)
  local moved = Record.with_due(record, instant)
  local digest = Offered.digest_of(Entry.value(entry))
  local repeats = call('HGET', q.values, digest) ~= id
  call('ZCARD', q.repeated)
  Permissions.check('ZADD', q.timeouts, 'HSET', q.offered, 'ZREM', q.repeated, 'ZADD', q.repeated)
  if earliest_before == nil or instant < earliest_before then
    call('PUBLISH', channel, format('%.0f', instant))
  end
  call('ZADD', q.timeouts, instant, entry)
  call('HSET', q.offered, id, moved)
  if repeats then
    call('ZADD', q.repeated, 0, Offered.place_of(digest, id, moved))
    call('ZREM', q.repeated, Offered.place_of(digest, id, record))
  end
  return 'moved'
end

register('reschedule', { 'allow-oom' }, run)
