#!lua flags=no-writes
-- Finds one message.
--
-- KEYS delayed messages claims leases attempts dead
-- ARGV id: text
-- Returns null if there is none with this id, else: state, record, failed attempts, end of the lease in ms (0: not active).
--
-- Atomic so that the message is seen in one state. Writes nothing.
--@include holders

local id = args.id

local record = redis.call('HGET', keys.messages, id)
if not record then
  return false
end
local failed = tonumber(redis.call('HGET', keys.attempts, id) or 0) or 0
if redis.call('ZSCORE', keys.delayed, id) then
  return { 'delayed', record, failed, 0 }
end
if redis.call('ZSCORE', keys.dead, id) then
  return { 'dead', record, failed, 0 }
end
local holder = holders_of(keys.claims)[id]
if holder then
  return { 'active', record, failed, tonumber(redis.call('ZSCORE', keys.leases, holder) or 0) }
end
return { 'ready', record, failed, 0 }
