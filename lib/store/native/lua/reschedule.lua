-- Changes the due time of a message that is still delayed.
--
-- KEYS delayed messages partitions
--      | permits
-- ARGV deadline: text, instant in ms, 0: none
--      id: text
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
--      due: text, '+' and a delay, or '@' and an instant, in ms
--      channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
-- Returns 1 if the due time was changed, 0 if the message is not, or is no longer, delayed.
--
-- Atomic so that exactly one of cancel, reschedule and transfer wins, and score and record agree. A crash right afterwards leaves the
-- message with its new due time; a lost announcement costs a check interval.
local function run(keys, args)
  local delayed, messages, partitions, permits = keys[1], keys[2], keys[3], keys[4]
  local deadline, id, partitioning, due, channel, database = args[1], args[2], args[3], args[4], args[5], args[6]
  local now, micros = Clock.read()
  Clock.check(deadline, now)
  local earliest_before = Scores.lowest(delayed)
  local record = call('HGET', messages, id)
  local member = Record.member_of(id, record, permits)
  local score = record and call('ZSCORE', delayed, member)
  if not score or permits and Groups.waits_for_rate(record, score) then
    Partitioning.check(partitions, partitioning)
    return 0
  end
  local instant = Clock.due(due, micros)
  Permissions.check('ZADD', delayed, 'HSET', messages)
  Channel.announce(database, channel, earliest_before, instant, now)
  call('ZADD', delayed, instant, member)
  call('HSET', messages, id, Record.with_due(record, instant))
  return 1
end

register('reschedule', { 'allow-oom' }, run)
