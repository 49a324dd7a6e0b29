-- Finds one message.
--
-- KEYS delayed messages claims leases attempts dead errors partitions
--      | permits
-- ARGV id: text
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
-- Returns null if no message has this id, otherwise: state, record, failed attempts, then the end of the lease in ms if it is active, the
--      time of death in ms and the error (JSON; null: it is lost) if it is dead, or when it comes back, in ms, if it has fallen due and
--      waits for its group's rate.
--
-- Atomic so that the message is seen in one state. Writes nothing.
local function run(keys, args)
  local delayed, messages, claims, leases, attempts = keys[1], keys[2], keys[3], keys[4], keys[5]
  local dead, errors, partitions, permits = keys[6], keys[7], keys[8], keys[9]
  local id, partitioning = args[1], args[2]
  local record = call('HGET', messages, id)
  if not record then
    Partitioning.check(partitions, partitioning)
    return false
  end
  local failed = tonumber(call('HGET', attempts, id) or 0) or 0
  local score = call('ZSCORE', delayed, Record.member_of(id, record, permits))
  if score then
    return { 'delayed', record, failed, permits and Groups.waits_for_rate(record, score) and floor(score) or nil }
  end
  local died_at = call('ZSCORE', dead, id)
  if died_at then
    return { 'dead', record, failed, tonumber(died_at), call('HMGET', errors, id)[1] }
  end
  local holder = Claims.holders(claims)[id]
  if holder then
    return { 'active', record, failed, tonumber(call('ZSCORE', leases, holder) or 0) }
  end
  return { 'ready', record, failed }
end

register('find', { 'no-writes' }, run)
