-- Makes dead letters due now, with all their attempts restored.
--
-- KEYS dead errors messages attempts delayed partitions
--      | permits
-- ARGV deadline: text, instant in ms, 0: none
--      by: text, 'id' or 'oldest'
--      value: text, the id, or the maximum number of letters (1-1000)
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
--      channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
--      unwrap: text, '1': removes from bodies the instant at which their messages first fell due; empty: leaves bodies as they are
-- Returns how many were redriven.
--
-- Atomic so that a letter is never in two states and never in none. A crash right afterwards leaves the messages due; a lost announcement
-- costs a check interval.
local function run(keys, args)
  local q = {
    dead = keys[1], errors = keys[2], messages = keys[3], attempts = keys[4], delayed = keys[5], partitions = keys[6], permits = keys[7],
  }
  local deadline, by, value, partitioning = args[1], args[2], args[3], args[4]
  local channel, database, unwrap = args[5], args[6], args[7]
  local now = Clock.read()
  Clock.check(deadline, now)
  for _, key in ipairs({ q.errors, q.attempts }) do call('HLEN', key) end
  local earliest_before = Scores.lowest(q.delayed)
  local ids = Dead.select(q, by, value, partitioning)
  if #ids == 0 then
    return 0
  end

  local due, scores, records = format('%d', now), {}, {}
  for i, record in ipairs(call('HMGET', q.messages, unpack(ids))) do
    if record then
      -- Does the same as unwrapPutOff in lib/message/codec/body-forms.ts.
      local kept = unwrap == '1' and Record.with_body(record, sub(record, Record.wrapping_end(record) + 1)) or record
      scores[#scores + 1], scores[#scores + 2] = due, Record.member_of(ids[i], record, q.permits)
      records[#records + 1], records[#records + 2] = ids[i], Record.with_due(kept, now)
    end
  end
  -- The first write proves its own permission.
  Permissions.check('HDEL', q.errors, 'HDEL', q.attempts)
  if #scores > 0 then
    Permissions.check('ZADD', q.delayed, 'HSET', q.messages)
    Channel.announce(database, channel, earliest_before, now, now)
  end
  call('ZREM', q.dead, unpack(ids))
  call('HDEL', q.errors, unpack(ids))
  call('HDEL', q.attempts, unpack(ids))
  if #scores > 0 then
    call('ZADD', q.delayed, unpack(scores))
    call('HSET', q.messages, unpack(records))
  end
  return #scores / 2
end

register('redrive', { 'allow-oom' }, run)
