#!lua flags=allow-oom
-- Removes a delayed message from the queue, no matter who offered it.
--
-- KEYS timeouts entries offered values repeated
-- ARGV deadline: number, instant in ms, 0: none
--      entry: text, empty: the entry of the earliest offer
-- Returns its value; null if it is not delayed (any more).
--
-- Atomic so that the message is taken once, by this call or by a transfer. A crash right after leaves it gone.
--@include native/clock
--@include native/permission
--@include entry
--@include find-entries
--@include forget
--@include unlist

check_deadline(args.deadline, (read_clock()))
local entry = args.entry ~= '' and args.entry or redis.call('LINDEX', keys.entries, 0)
redis.call('HLEN', keys.offered)
if not entry then
  return false
end
local value = entry_value(entry)
if not value then
  return redis.error_reply('UNREADABLE the entry is not in a format of Redisson; it becomes a dead letter when it falls due')
end
local due = redis.call('ZSCORE', keys.timeouts, entry)
local message = due and find_entries({ entry }, { due })[1]
check_permissions('ZREM', keys.timeouts)
check_unlist(keys.entries)
check_forget()
unlist_all(keys.entries, { entry })
redis.call('ZREM', keys.timeouts, entry)
if message then
  forget_offered(message.id, message.record)
end
return due and value
