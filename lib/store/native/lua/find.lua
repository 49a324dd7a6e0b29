#!lua flags=no-writes
-- Looks at one message.
--
-- KEYS 1 delayed  2 messages  3 claims  4 leases  5 attempts  6 dead
-- ARGV 1 id
-- Returns null if there is none of that id, else: state, record, failed attempts, end of the lease in ms (0: not active).
--
-- Atomic so that the message is seen in one state. Writes nothing.
--@include held
--@include holders

local delayed, messages, claims, leases, attempts, dead = unpack(KEYS)
local id = ARGV[1]

local record = redis.call('HGET', messages, id)
if not record then
  return false
end
local failed = tonumber(redis.call('HGET', attempts, id) or 0) or 0
if redis.call('ZSCORE', delayed, id) then
  return { 'delayed', record, failed, 0 }
end
if redis.call('ZSCORE', dead, id) then
  return { 'dead', record, failed, 0 }
end
local holder = holders_of(claims)[id]
if holder then
  return { 'active', record, failed, tonumber(redis.call('ZSCORE', leases, holder) or 0) }
end
return { 'ready', record, failed, 0 }
