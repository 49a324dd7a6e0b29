-- Remembers a handled message as scan-handled.lua has read it.
--
-- KEYS handled history partitions
-- ARGV id: text
--      at: number, when the message was handled, ms
--      ends: number, when the entry is too old, ms
--      most: number, maximum number of entries
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
--      entry: text, one line
--      record: text, empty: none
-- Returns 'created'; 'kept' if an entry with this id is there that is as new; 'dropped' if the entry is too old, or there are enough newer
--      ones.
--
-- As after remember.lua, both keys expire when the last entry is too old, and a history that has become too long shrinks.
--
-- Atomic so that both keys have the same ids. A crash right afterwards leaves the entry; a repeated call finds it.
local function run(keys, args)
  local handled, history, partitions = keys[1], keys[2], keys[3]
  local id, at, ends, most, partitioning = args[1], tonumber(args[2]), tonumber(args[3]), tonumber(args[4]), args[5]
  local entry, record = args[6], args[7]
  Partitioning.check(partitions, partitioning)
  local now = Clock.read()
  local count, known = call('ZCARD', handled), call('ZSCORE', handled, id)
  call('HLEN', history)
  if known and -tonumber(known) >= at then
    return 'kept'
  end
  local excess = known and 0 or count + 1 - most
  if ends <= now or excess > 0 and -tonumber(call('ZRANGE', handled, '-1', '-1', 'WITHSCORES')[2]) >= at then
    return 'dropped'
  end
  Permissions.check('HSET', history, 'HDEL', history, 'PEXPIRE', history, 'ZREM', handled, 'PEXPIRE', handled)
  local kept_for = format('%.0f', max(ends - now, call('PTTL', handled)))
  call('ZADD', handled, format('%.0f', -at), id)
  call('HSET', history, id, format('%.0f ', at) .. entry .. '\n' .. record)
  if excess > 0 then
    local ids = call('ZRANGE', handled, -min(excess, 2), -1)
    call('ZREM', handled, unpack(ids))
    call('HDEL', history, unpack(ids))
  end
  call('PEXPIRE', handled, kept_for)
  call('PEXPIRE', history, kept_for)
  return 'created'
end

register('restore_handled', {}, run)
