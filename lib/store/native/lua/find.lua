#!lua flags=no-writes
-- Looks at one message.
--
-- KEYS 1 delayed  2 messages  3 active  4 attempts  5 dead
-- ARGV 1 id
-- Returns null if there is none of that id, else: state, record, failed attempts, end of the lease in ms (0: not active).
--
-- Atomic so that the message is seen in one state. Writes nothing.

local delayed, messages, active, attempts, dead = unpack(KEYS)
local id = ARGV[1]

local record = redis.call('HGET', messages, id)
if not record then
  return false
end
local failed = tonumber(redis.call('HGET', attempts, id) or 0) or 0
local leased_until = redis.call('ZSCORE', active, id)
local state = 'ready'
if leased_until then
  state = 'active'
elseif redis.call('ZSCORE', delayed, id) then
  state = 'delayed'
elseif redis.call('ZSCORE', dead, id) then
  state = 'dead'
end
return { state, record, failed, tonumber(leased_until or 0) }
