#!lua flags=allow-oom
-- Takes ready messages under a lease. Values of the target list first become messages of the native bookkeeping, but only as
-- many as are about to be taken: the rest stays there for Java's consumers.
--
-- KEYS target timeouts offered values repeated sequence ready claims leases messages attempts wake paused rate
--      ended:token [ended:instead_of] if the claim replaces another one
-- ARGV as native/claim
-- Returns the same as native/claim.
--
-- Atomic so that a value leaves the target list only into a lease. A crash right after costs the messages their lease and an
-- attempt.
--@include native/clock
--@include native/permission
--@include native/record
--@include native/claim
--@include native/rate
--@include native/read-within
--@include sequence
--@include find-offered

local now, now_micros = read_clock()
check_deadline(args.deadline, now)
local waiting = redis.call('LLEN', keys.target)
local rate = read_rate(now_micros)
local room = (rate and math.min(args.limit, rate.room) or args.limit) - redis.call('LLEN', keys.ready)
local sequence = unused_sequence(redis.call('GET', keys.sequence), now_micros)
for _, key in ipairs({ keys.timeouts, keys.repeated, keys.leases }) do redis.call('ZCARD', key) end
for _, key in ipairs({ keys.offered, keys.values, keys.messages, keys.attempts, keys.claims }) do redis.call('HLEN', key) end
redis.call('LLEN', keys.wake)
if redis.call('GET', keys.paused) or has_taken() or #passed_on() > 0 then
  room = 0
end

local values = read_within(math.min(room, waiting), most_bytes(), function(first, last)
  return redis.call('LRANGE', keys.target, first - 1, last - 1)
end)
local count, known = #values, {}
if count > 0 then
  local found = find_offered(values, now, {})
  local ids, records, offered, digests, places = {}, {}, {}, {}, {}
  local others = 0
  for i, value in ipairs(values) do
    local message = found[i]
    if message then
      ids[i] = message.id
      offered[#offered + 1] = message.id
      if message.place then
        places[#places + 1] = message.place
      else
        digests[#digests + 1] = message.digest
      end
      known[message.id] = with_body(message.record, value)
    else
      ids[i] = string.format('%014x', sequence + others)
      others = others + 1
      known[ids[i]] = pack_record(now, now, value)
    end
    records[2 * i - 1], records[2 * i] = ids[i], known[ids[i]]
  end

  check_claim_permissions()
  check_permissions(
    'LPOP', keys.target, 'HSET', keys.messages, 'RPUSH', keys.ready, 'SET', keys.sequence, 'HDEL', keys.offered,
    'HDEL', keys.values, 'ZREM', keys.repeated, 'LRANGE', keys.ready, 'HMGET', keys.messages, 'DEL', keys.wake,
    'HMGET', keys.attempts
  )
  redis.call('HSET', keys.messages, unpack(records))
  redis.call('RPUSH', keys.ready, unpack(ids))
  redis.call('LPOP', keys.target, count)
  if others > 0 then
    store_sequence(keys.sequence, sequence + others - 1)
  end
  if #offered > 0 then
    redis.call('HDEL', keys.offered, unpack(offered))
  end
  if #digests > 0 then
    redis.call('HDEL', keys.values, unpack(digests))
  end
  if #places > 0 then
    redis.call('ZREM', keys.repeated, unpack(places))
  end
end

return claim_ready(now_micros, rate, waiting - count, known)
