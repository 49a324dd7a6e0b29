-- Removes a delayed message from the queue, no matter who offered it.
--
-- KEYS timeouts entries offered values repeated
-- ARGV deadline: text, instant in ms, 0: none
--      entry: text, empty: the entry of the earliest offer
-- Returns its value; null if it is not delayed (any more).
--
-- Atomic so that the message is taken once, by this call or by a transfer. A crash right after leaves it gone.
local function run(keys, args)
  local q = { timeouts = keys[1], entries = keys[2], offered = keys[3], values = keys[4], repeated = keys[5] }
  local deadline, entry = args[1], args[2]
  Clock.check(deadline, (Clock.read()))
  local entry = entry ~= '' and entry or call('LINDEX', q.entries, 0)
  call('HLEN', q.offered)
  if not entry then
    return false
  end
  local value = Entry.value(entry)
  if not value then
    return redis.error_reply('UNREADABLE the entry is not in a format of Redisson; it becomes a dead letter when it falls due')
  end
  local due = call('ZSCORE', q.timeouts, entry)
  local message = due and FindEntries.run(q, { entry }, { due })[1]
  Permissions.check('ZREM', q.timeouts)
  Unlist.check(q.entries)
  Forget.check(q)
  Unlist.all(q.entries, { entry })
  call('ZREM', q.timeouts, entry)
  if message then
    Forget.run(q, message.id, message.record)
  end
  return due and value
end

register('take_value', { 'allow-oom' }, run)
