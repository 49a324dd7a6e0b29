#!lua flags=allow-oom
-- Removes a delayed message from the queue, no matter who offered it.
--
-- KEYS timeouts entries offered values messages
-- ARGV deadline: number, instant in ms, 0: none
--      entry: text, empty: the entry of the earliest offer
-- Returns its value; null if it is not delayed (any more).
--
-- Atomic so that the message is taken once, by this call or by a transfer. A crash right after leaves it gone.
--@include native/clock
--@include native/deadline
--@include native/permission
--@include entry
--@include offered
--@include forget
--@include unlist

check_deadline(args.deadline, (read_clock()))
local entry = args.entry ~= '' and args.entry or redis.call('LINDEX', keys.entries, 0)
for _, key in ipairs({ keys.offered, keys.values }) do redis.call('ZCARD', key) end
redis.call('HLEN', keys.messages)
if not entry then
  return false
end
local value = entry_value(entry)
if not value then
  return redis.error_reply('UNREADABLE the entry is not in a format of Redisson; it becomes a dead letter when it falls due')
end
local due = redis.call('ZSCORE', keys.timeouts, entry)
check_permissions('ZREM', keys.timeouts, 'ZRANGE', keys.offered, 'HMGET', keys.messages)
check_unlist(keys.entries)
check_forget()
local was_delayed = redis.call('ZREM', keys.timeouts, entry) == 1
unlist_all(keys.entries, { entry })
if not was_delayed then
  return false
end
-- If more than these are due at the same instant, its id may be forgotten later, like that of a value that Java takes.
local ids = redis.call('ZRANGE', keys.offered, due, due, 'BYSCORE', 'LIMIT', 0, 1000)
local records = #ids > 0 and redis.call('HMGET', keys.messages, unpack(ids)) or {}
for i, record in ipairs(records) do
  if record and entry_of(record) == entry then
    forget_offered(ids[i], record)
  end
end
return value
