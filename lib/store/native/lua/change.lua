-- Changes the due time and body of a message that is still delayed and still has the body that the caller has read.
--
-- KEYS delayed messages partitions
--      | permits
-- ARGV deadline: text, instant in ms, 0: none
--      id: text
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
--      due: text, '+' and a delay, or '@' and an instant, in ms
--      body_read: text, SHA-1 of the body that the caller has read, 40 hexadecimal digits
--      body: text, the new body
--      channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
-- Returns 'changed', 'absent' if the message is not (or no longer) delayed, or 'stale' if it has another body; then nothing was written.
--
-- Atomic so that exactly one of cancel, reschedule, change and transfer wins, and no change made since the caller's read is lost. A crash
-- right afterwards leaves the message changed; a lost announcement costs a check interval. If memory is short, the server refuses this
-- function before it starts.
local function run(keys, args)
  local delayed, messages, partitions, permits = keys[1], keys[2], keys[3], keys[4]
  local deadline, id, partitioning, due, body_read, body = args[1], args[2], args[3], args[4], args[5], args[6]
  local channel, database = args[7], args[8]
  local now, micros = Clock.read()
  Clock.check(deadline, now)
  local earliest_before = Scores.lowest(delayed)
  local record = call('HGET', messages, id)
  local member = Record.member_of(id, record, permits)
  local score = record and call('ZSCORE', delayed, member)
  if not score or permits and Groups.waits_for_rate(record, score) then
    Partitioning.check(partitions, partitioning)
    return 'absent'
  end
  -- If the value is too short to be a record, the caller has read all of it as the body.
  if sha1hex(Record.is(record) and Record.body(record) or record) ~= body_read then
    return 'stale'
  end

  local instant = Clock.due(due, micros)
  Permissions.check('ZADD', delayed, 'HSET', messages)
  Channel.announce(database, channel, earliest_before, instant, now)
  call('ZADD', delayed, instant, member)
  call('HSET', messages, id, Record.pack(instant, Record.offered(record), body))
  return 'changed'
end

register('change', {}, run)
