-- Remembers handled messages: stores an entry for each, in place of an earlier one with the same id, and drops the oldest entries if they
-- are too old or too many.
--
-- KEYS handled history messages
-- ARGV kept_for: number, how long an entry is kept, ms
--      most: number, maximum number of entries
--      ...: for each message (1-1000): its id in the history; its id in the queue, if its record is to be kept, otherwise empty; the first
--        12 bytes of that record, without which it is another message's; the entry, in one line
-- Returns 1.
--
-- An entry is stored as the time in ms, a space, the entry, a line feed, and the record (empty: none). A call drops at most twice as many
-- entries as it stores, so a history that has become too long shrinks. Both keys expire when the last entry is too old. An entry that is
-- already there, because its answer or the outcome was lost, stays as it is: its record may be gone from the queue by now.
--
-- Atomic so that both keys have the same ids. Called right before settle. A crash in between leaves an entry for a message that is handled
-- again, and whose next entry replaces this one.
local function run(keys, args)
  local handled, history, messages = keys[1], keys[2], keys[3]
  local kept_for, most = tonumber(args[1]), tonumber(args[2])
  call('ZCARD', handled)
  call('HLEN', history)
  Permissions.check('HSET', history, 'HDEL', history, 'PEXPIRE', history, 'ZREM', handled, 'PEXPIRE', handled)
  local now = Clock.read()
  local scores, entries = {}, {}
  for at = 3, #args, 4 do
    local known = call('HGET', history, args[at])
    if not known or match(known, '^%d+ ([^\n]*)\n') ~= args[at + 3] then
      local record = args[at + 1] ~= '' and call('HGET', messages, args[at + 1]) or ''
      local last = #scores
      scores[last + 1], scores[last + 2] = -now, args[at]
      entries[last + 1], entries[last + 2] = args[at], format('%.0f ', now) .. args[at + 3] .. '\n'
        .. (sub(record, 1, 12) == args[at + 2] and record or '')
    end
  end
  if #scores > 0 then
    call('ZADD', handled, unpack(scores))
    call('HSET', history, unpack(entries))
  end
  local too_old = call('ZCOUNT', handled, format('%.0f', kept_for - now), '+inf')
  local dropped = min(max(too_old, call('ZCARD', handled) - most), #scores)
  if dropped > 0 then
    local ids = call('ZRANGE', handled, -dropped, -1)
    call('ZREM', handled, unpack(ids))
    call('HDEL', history, unpack(ids))
  end
  call('PEXPIRE', handled, args[1])
  call('PEXPIRE', history, args[1])
  return 1
end

register('remember', {}, run)
