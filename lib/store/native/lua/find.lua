#!lua flags=no-writes
-- Finds one message.
--
-- KEYS delayed messages claims leases attempts dead errors partitions
-- ARGV id: text
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
-- Returns null if there is none with this id, else: state, record, failed attempts, then the end of the lease in ms if it is
--      active, or the time of death in ms and the error (JSON; null: it is lost) if it is dead.
--
-- Atomic so that the message is seen in one state. Writes nothing.
--@include holders
--@include check-partitioning
--@with lanes --@include groups

local id = args.id

local record = redis.call('HGET', keys.messages, id)
if not record then
  check_partitioning()
  return false
end
local failed = tonumber(redis.call('HGET', keys.attempts, id) or 0) or 0
local member = id
--@with lanes member = member_of(id, record_group(record))
if redis.call('ZSCORE', keys.delayed, member) then
  return { 'delayed', record, failed }
end
local died_at = redis.call('ZSCORE', keys.dead, id)
if died_at then
  return { 'dead', record, failed, tonumber(died_at), redis.call('HMGET', keys.errors, id)[1] }
end
local holder = holders_of(keys.claims)[id]
if holder then
  return { 'active', record, failed, tonumber(redis.call('ZSCORE', keys.leases, holder) or 0) }
end
return { 'ready', record, failed }
