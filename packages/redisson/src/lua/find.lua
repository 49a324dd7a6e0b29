-- Finds a message that was offered here and that no consumer here has taken yet.
--
-- KEYS timeouts target offered
-- ARGV id: text
-- Returns 'unknown' if there is none with this id; 'taken' if a Java consumer has taken it; else 'delayed' or 'ready', and the
--      record with the value as its body.
--
-- Atomic so that the message is seen in one state. Writes nothing.
local function run(keys, args)
  local q = { timeouts = keys[1], target = keys[2], offered = keys[3] }
  local id = args[1]
  local record = call('HGET', q.offered, id)
  if not record then
    return { 'unknown' }
  end
  local entry = Offered.entry_of(record)
  local value = Entry.value(entry) or ''
  local state = State.of(q, entry, value)
  if state == 'taken' then
    return { state }
  end
  return { state, sub(record, 1, 12) .. value }
end

register('find', { 'no-writes' }, run)
