#!lua flags=allow-oom
-- Takes ready messages under a lease. Values of the target list become messages of the native bookkeeping first, as many as
-- are about to be taken: what is left stays there for Java's consumers.
--
-- KEYS 1 target  2 timeouts  3 offered  4 values  5 sequence  6 ready  7 claims  8 leases  9 messages  10 attempts  11 wake
--      12 paused  13 ended, of this token  14 ended, of the token in whose place this one comes, if there is one
-- ARGV 1 deadline in ms, 0: none
--      2 token of this claim; one that has taken already takes nothing
--      3 token of the claim in whose place this one comes, empty: none. What that one holds passes to this one, nothing else is
--        taken, and that one takes nothing any more
--      4 most messages to take (0-1000); 0 only rings for those that are ready
--      5 most bytes of records to take, 0: no limit; one record is taken whatever its size
--      6 lease in ms
-- Returns more (0 or 1: whether ready messages remain); then, if any were taken, all of them in one string, each as: length of
--      the id (2 bytes, big-endian), failed attempts (4), length of the record (4; 0 if the queue lost it: the id was ready
--      without a message, and is dropped), id, record.
--
-- Atomic so that a value leaves the target list only into a lease. A crash right after costs the messages their lease and an
-- attempt.
--@include native/clock
--@include native/deadline
--@include native/permission
--@include native/record
--@include native/held
--@include read-within
--@include native/claim
--@include entry
--@include sequence
--@include offered
--@include find-offered

local keys = {
  target = KEYS[1], timeouts = KEYS[2], offered = KEYS[3], values = KEYS[4], sequence = KEYS[5], ready = KEYS[6],
  claims = KEYS[7], leases = KEYS[8], messages = KEYS[9], attempts = KEYS[10], wake = KEYS[11], paused = KEYS[12],
  ended = KEYS[13], ended_now = KEYS[14],
}
local request = read_claim_request(ARGV)
local now = request.now
local waiting = redis.call('LLEN', keys.target)
local room = request.limit - redis.call('LLEN', keys.ready)
local sequence = next_sequence(redis.call('GET', keys.sequence), request.now_micros)
for _, key in ipairs({ keys.timeouts, keys.offered, keys.values, keys.leases }) do redis.call('ZCARD', key) end
for _, key in ipairs({ keys.messages, keys.attempts, keys.claims }) do redis.call('HLEN', key) end
redis.call('LLEN', keys.wake)
if redis.call('GET', keys.paused) or has_taken(keys, request.token) or #passed_on_by(keys.claims, request.instead_of) > 0 then
  room = 0
end

local values = read_within(math.min(room, waiting), request.max_bytes, function(first, last)
  return redis.call('LRANGE', keys.target, first - 1, last - 1)
end)
local count = #values
if count > 0 then
  local search = find_offered(keys, values, now)
  count = search.sure

  local ids, records, offered, places = {}, {}, {}, {}
  local others = 0
  for i = 1, count do
    local value, message = values[i], search.found[i]
    if message then
      ids[i] = message.id
      offered[#offered + 1] = message.id
      places[#places + 1] = message.place
      records[#records + 1], records[#records + 2] = message.id, string.sub(message.record, 1, 12) .. value
    else
      ids[i] = string.format('%014x', sequence + others)
      others = others + 1
      records[#records + 1], records[#records + 2] = ids[i], pack_record(now, now, value)
    end
  end

  check_claim_permissions(keys)
  check_permissions(
    'ZADD', keys.offered, 'ZADD', keys.values, 'LPOP', keys.target, 'HSET', keys.messages, 'RPUSH', keys.ready,
    'SET', keys.sequence, 'ZREM', keys.offered, 'ZREM', keys.values, 'LRANGE', keys.ready, 'HMGET', keys.messages, 'DEL', keys.wake,
    'HMGET', keys.attempts
  )
  pass_over(keys, search.passed)
  if count > 0 then
    redis.call('LPOP', keys.target, count)
    redis.call('HSET', keys.messages, unpack(records))
    redis.call('RPUSH', keys.ready, unpack(ids))
  end
  if others > 0 then
    store_sequence(keys.sequence, sequence + others - 1)
  end
  if #offered > 0 then
    redis.call('ZREM', keys.offered, unpack(offered))
  end
  if #places > 0 then
    redis.call('ZREM', keys.values, unpack(places))
  end
end

return claim_ready(keys, request, waiting - count)
