-- Moves due messages from delayed straight into a lease, provided that no message is ready, no lease has expired, and the queue is not
-- paused. Otherwise changes nothing, and the caller transfers and claims in two calls.
--
-- KEYS delayed ready claims leases messages attempts paused ended:token
-- ARGV deadline: text, instant in ms, 0: none
--      token: text, of the claim; a token that has already taken messages, or whose claim was superseded, takes none
--      limit: text, maximum number of messages to take (1-64), a space, and the maximum size of their records in bytes; one record is
--        taken whatever its size
--      lease: number, in ms
--      ...: if this call is to be announced, '<database, as in offer> <scheduler> <when that scheduler last moved something, us;
--        -1: never> <channel>'
-- Returns null if a condition is not met; otherwise the next instant in ms at which there is work (-1: none is known), the current time in
--      microseconds, more (0 or 1: whether more is due), and what was taken, as in claim: failed attempts, then each message.
--
-- Atomic so that a message leaves delayed only into a lease. A crash right afterwards costs the messages their lease and an attempt.

-- Returns the ids of at most `limit` due messages, and a reply with the records that fit; nil if a message has no record.
local function read_due(delayed, messages, now, limit)
  local most, max_bytes = match(limit, '^(%d+) (%d+)$')
  local ids, reply, bytes = call('ZRANGE', delayed, '-inf', format('%d', now), 'BYSCORE', 'LIMIT', '0', most), { 0, 0, 0, '' }, 0
  for i, record in ipairs(call('HMGET', messages, unpack(ids))) do
    bytes = bytes + (record and #record or 0)
    if not record or #record < 12 then
      return nil
    elseif i > 1 and bytes > tonumber(max_bytes) then
      break
    end
    reply[3 + 2 * i], reply[4 + 2 * i] = ids[i], record
  end
  return ids, reply
end

local function run(keys, args)
  local delayed, ready, claims, leases, messages = keys[1], keys[2], keys[3], keys[4], keys[5]
  local attempts, paused, ended_token = keys[6], keys[7], keys[8]
  local deadline, token, limit, lease, announcer = args[1], args[2], args[3], args[4], args[5]
  local now, micros = Clock.read()
  -- Often none of these keys exists: Redis keeps no empty ones, and attempts are kept only for messages that have failed.
  local has_attempts, lease_end = false, nil
  local existing = call('EXISTS', ready, paused, ended_token, attempts, leases)
  if existing > 0 then
    lease_end = tonumber(call('ZRANGE', leases, '0', '0', 'WITHSCORES')[2])
    if lease_end and lease_end <= now then
      return false
    end
    has_attempts = existing > (lease_end and 1 or 0)
    if has_attempts and (call('LLEN', ready) > 0 or call('EXISTS', paused, ended_token) > 0) then
      return false
    end
  end
  local head = call('ZRANGE', delayed, '0', '1', 'WITHSCORES')
  local id, due, next_due = head[1], head[2] and head[2] + 0, head[4] and head[4] + 0
  if not due or due > now then
    local next_at = due and lease_end and min(due, lease_end) or due or lease_end or -1
    if announcer then
      Channel.announce_transfer(announcer, false, 0, next_at, micros)
    end
    return { next_at, micros, 0, '' }
  end
  if deadline ~= '0' and now - deadline > 0 then
    return false
  end

  local ids, reply, count, held = head, nil, 1, nil
  if next_due and next_due <= now then
    ids, reply = read_due(delayed, messages, now, limit)
    if not ids then
      return false
    end
    count = #reply / 2 - 2
    next_due = tonumber(call('ZRANGE', delayed, count, count, 'WITHSCORES')[2])
    held = '\n' .. concat(ids, '\n', 1, count) .. '\n'
  else
    local record = call('HGET', messages, id)
    if not record or #record < 12 then
      return false
    end
    reply, held = { 0, 0, 0, '', id, record }, '\n' .. id .. '\n'
  end
  if has_attempts then
    reply[4] = concat(Claims.failed_attempts(attempts, ids, count), ' ')
  end

  -- The first write proves its own permission, and that the token is new. The other permissions are checked before it.
  if not (acl_check('ZADD', leases, '0', '0') and acl_check('ZREMRANGEBYRANK', delayed, '0', '0')
    and (not announcer or Channel.may_announce(announcer))) or call('HSETNX', claims, token, held) == 0 then
    return false
  end
  -- Rounded up, like Clock.after.
  local ends = now + 1 + lease
  call('ZADD', leases, format('%d', ends), token)
  call('ZREMRANGEBYRANK', delayed, '0', count == 1 and '0' or count - 1)
  local next_at = lease_end and lease_end < ends and lease_end or ends
  if next_due and next_due < next_at then
    next_at = next_due
  end
  if announcer then
    Channel.announce_transfer(announcer, true, 0, next_at, micros)
  end
  reply[1], reply[2], reply[3] = next_at, micros, next_due and next_due <= now and 1 or 0
  return reply
end

register('transfer_and_claim', { 'allow-oom' }, run)
