-- Keeps an id as scan-kept.lua has read it.
--
-- KEYS kept partitions
-- ARGV id: text
--      at: number, when the message was handled, ms
--      ends: number, until when the id is kept, ms
--      most: number, maximum number of kept ids
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
-- Returns 'created'; 'kept' if the id is kept because a message was handled at this time or later; 'dropped' if it is too old, or there are
--      enough newer ones.
--
-- As after settle-and-keep.lua, the key expires when the last id is too old, and a set that has become too long shrinks.
--
-- Atomic so that an id whose message is handled meanwhile keeps the later time. A crash right afterwards leaves the id kept; a repeated call
-- finds it.
local function run(keys, args)
  local kept, partitions = keys[1], keys[2]
  local id, at, ends, most, partitioning = args[1], tonumber(args[2]), tonumber(args[3]), tonumber(args[4]), args[5]
  Partitioning.check(partitions, partitioning)
  local now = Clock.read()
  local count, known = call('ZCARD', kept), call('ZSCORE', kept, id)
  if known and tonumber(known) >= at then
    return 'kept'
  end
  local excess = known and 0 or count + 1 - most
  if ends <= now or excess > 0 and tonumber(call('ZRANGE', kept, '0', '0', 'WITHSCORES')[2]) >= at then
    return 'dropped'
  end
  Permissions.check('ZADD', kept, 'PEXPIRE', kept, 'ZREMRANGEBYRANK', kept)
  local kept_for = format('%.0f', max(ends - now, call('PTTL', kept)))
  call('ZADD', kept, format('%.0f', at), id)
  if excess > 0 then
    call('ZREMRANGEBYRANK', kept, '0', min(excess, 2) - 1)
  end
  call('PEXPIRE', kept, kept_for)
  return 'created'
end

register('restore_kept', {}, run)
