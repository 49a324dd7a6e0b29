#!lua flags=no-writes
-- Finds a message that was offered here and that no consumer here has taken yet.
--
-- KEYS timeouts target offered
-- ARGV id: text
-- Returns 'unknown' if there is none with this id; 'taken' if a Java consumer has taken it; else 'delayed' or 'ready', and the
--      record with the value as its body.
--
-- Atomic so that the message is seen in one state. Writes nothing.
--@include entry
--@include offered
--@include state

local record = redis.call('HGET', keys.offered, args.id)
if not record then
  return { 'unknown' }
end
local entry = entry_of(record)
local value = entry_value(entry) or ''
local state = offered_state(entry, value)
if state == 'taken' then
  return { state }
end
return { state, string.sub(record, 1, 12) .. value }
