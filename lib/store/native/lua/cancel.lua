-- Removes a message that is still delayed, and a follower whatever the state of the message that it follows. A repeating message that is
-- ready or active loses its rule, so it does not come again.
--
-- KEYS delayed messages attempts partitions followers dead
--      | permits backlog held ready wake paused
-- ARGV deadline: text, instant in ms, 0: none
--      id: text
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
--      | groups: text, as in modules/groups.lua
-- Returns 1 if any of this was done, 0 if the message is not (or no longer) delayed, has no follower, and does not repeat.
--
-- Atomic so that exactly one of cancel, reschedule and transfer wins. A crash right afterwards leaves the message removed.

-- Returns a ready or active message's record without its rule; nil if there is no rule, or the message is dead. Called before any write.
local function plan_end(q, id)
  local record = call('HGET', q.messages, id)
  local _, last
  if Record.is(record) then
    _, last = Record.find_rule(record)
  end
  if not last or call('ZSCORE', q.dead, id) then
    return nil
  end
  Permissions.check('HSET', q.messages)
  return Record.without_rule(record, last)
end

local function run(keys, args)
  local q = {
    delayed = keys[1], messages = keys[2], attempts = keys[3], partitions = keys[4], followers = keys[5], dead = keys[6],
    permits = keys[7], backlog = keys[8], held = keys[9], ready = keys[10], wake = keys[11], paused = keys[12],
  }
  local deadline, id, partitioning, groups = args[1], args[2], args[3], args[4]
  Clock.check(deadline, (Clock.read()))
  for _, key in ipairs({ q.messages, q.attempts, q.followers }) do call('HLEN', key) end
  Permissions.check('ZREM', q.delayed, 'HDEL', q.messages, 'HDEL', q.attempts, 'HDEL', q.followers)
  local member = id
  if q.permits then
    Groups.begin(q, groups)
    Groups.check(q)
    Wake.check(q)
    Groups.read(q, { id })
    member = Groups.member(q, id)
  end
  local was_delayed = call('ZREM', q.delayed, member) == 1
  local without_rule = not was_delayed and plan_end(q, id)
  local had_follower = call('HDEL', q.followers, id) == 1
  if without_rule then
    call('HSET', q.messages, id, without_rule)
  end
  if not was_delayed then
    if not had_follower and not without_rule then
      Partitioning.check(q.partitions, partitioning)
      return 0
    end
    return 1
  end
  call('HDEL', q.messages, id)
  call('HDEL', q.attempts, id)
  if q.groups then
    Groups.leave_if_held(q, id)
    Wake.signal_ready(q, Groups.store(q))
  end
  return 1
end

register('cancel', { 'allow-oom' }, run)
