-- Pauses or resumes a message that repeats, and its follower, if that repeats. A paused message that waits for its next occurrence is due at
-- the end of time (Record.PAUSED_UNTIL). One that is active, or has been delayed again, keeps its due time: settle reads the pause.
--
-- KEYS delayed messages attempts partitions followers dead
-- ARGV deadline: text, instant in ms, 0: none
--      id: text
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
--      resume_at: text, empty: pause; '@' and the instant of the next occurrence, in ms: resume
--      body_read: text, SHA-1 of the body with whose rule the caller has computed `resume_at`, 40 hexadecimal digits; empty to pause
--      channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
-- Returns 'changed'; 'kept' if the message was paused already, or was not paused; 'stale' if it has another body; 'absent' if there is no
--      message with this id, or it is dead or does not repeat. Only after 'changed' was anything written.
--
-- Atomic so that the end of an occurrence, or another rule, cannot undo a pause. A crash right afterwards leaves the message paused or
-- resumed; a lost announcement costs a check interval. If memory is short, the server refuses this function before it starts.
local function run(keys, args)
  local q = { delayed = keys[1], messages = keys[2], attempts = keys[3], partitions = keys[4], followers = keys[5], dead = keys[6] }
  local deadline, id, partitioning, resume_at, body_read, channel, database = unpack(args)
  local now, micros = Clock.read()
  Clock.check(deadline, now)
  local earliest_before = Scores.lowest(q.delayed)
  local record = call('HGET', q.messages, id)
  local first = Record.is(record) and Record.find_rule(record)
  if not first or call('ZSCORE', q.dead, id) then
    Partitioning.check(q.partitions, partitioning)
    return 'absent'
  end
  local pauses = resume_at == ''
  if Record.is_paused(record, first) == pauses then
    return 'kept'
  elseif not pauses and sha1hex(Record.body(record)) ~= body_read then
    return 'stale'
  end

  local due, score = nil, tonumber(call('ZSCORE', q.delayed, id) or -1)
  if not pauses then
    due = score == Record.PAUSED_UNTIL and Clock.due(resume_at, micros) or nil
  elseif score >= 0 and first == 13 and not call('HGET', q.attempts, id) then
    due = Record.PAUSED_UNTIL
  end
  local paused = Record.with_pause(record, first, pauses)
  local follower = call('HMGET', q.followers, id)[1]
  local body_at = follower and Followers.repeats(follower) and find(follower, '\n', 1, true) + 1
  Permissions.check('ZADD', q.delayed, 'HSET', q.messages, 'HSET', q.followers)
  Channel.announce(database, channel, earliest_before, due, now)
  -- In this order, because a message that is paused in its record, but falls due, is skipped; the reverse would never fall due.
  if due and not pauses then
    call('ZADD', q.delayed, due, id)
  end
  call('HSET', q.messages, id, due and Record.with_due(paused, due) or paused)
  if body_at then
    call('HSET', q.followers, id, Record.with_pause(follower, body_at, pauses))
  end
  if due and pauses then
    call('ZADD', q.delayed, due, id)
  end
  return 'changed'
end

register('pause_repeat', {}, run)
