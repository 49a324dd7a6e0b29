#!lua flags=allow-oom
-- Moves what is due to the target list, as Redisson's transfer does; entries that cannot be read become dead letters. Then does
-- what the native transfer does for retries and expired leases.
--
-- KEYS 1 timeouts  2 entries  3 target  4 offered  5 values  6 delayed  7 ready  8 claims  9 leases  10 attempts
--      11 messages  12 dead  13 errors  14 wake  15 mover  16 paused
-- ARGV 1 scheduler that asks
--      2 most messages to move, and most leases to take back (1-1000)
--      3 attempts a message has
--      4 most dead letters
--      5 error of a dead letter whose lease expired, JSON
--      6 error of a dead letter that was an entry nobody can read, JSON
-- Returns moved, recovered (ready again), buried (dead now), dropped (oldest dead letters), more (0 or 1), ready messages,
--      now in microseconds, next instant in ms at which there is work (-1: none is known), last mover as
--      '<scheduler> <ms>' (empty: none is known), length of the target list.
--
-- Atomic so that a message is never in two places and never in none, and so that a token is at the doorbell while messages wait.
-- Java's own transfer does the same to the same keys: whoever is first moves an entry, the other does not see it any more. A
-- crash right after leaves them ready, with the token waiting for the next consumer.
--@include native/clock
--@include native/permission
--@include native/record
--@include native/ring
--@include native/dead
--@include native/held
--@include native/transfer
--@include entry
--@include offered
--@include taken
--@include unlist

local keys = {
  timeouts = KEYS[1], entries = KEYS[2], target = KEYS[3], offered = KEYS[4], values = KEYS[5], delayed = KEYS[6],
  ready = KEYS[7], claims = KEYS[8], leases = KEYS[9], attempts = KEYS[10], messages = KEYS[11], dead = KEYS[12],
  errors = KEYS[13], wake = KEYS[14], mover = KEYS[15], paused = KEYS[16],
}
local now, now_micros = read_clock()
local request = {
  scheduler = ARGV[1], limit = tonumber(ARGV[2]), max_attempts = tonumber(ARGV[3]), max_dead = tonumber(ARGV[4]),
  lease_error = ARGV[5], now = now,
}
local unreadable_error = ARGV[6]
-- Of those that consumers of Java's took, so many are forgotten by each call.
local FORGET = 100

local found = up_to_now(keys.timeouts, lowest(keys.timeouts), request)
local length = redis.call('LLEN', keys.target)
redis.call('LLEN', keys.wake)
redis.call('ZCARD', keys.offered)
local is_paused = redis.call('GET', keys.paused)
check_forget_taken(keys)
check_dead(keys.dead, keys.errors, keys.messages, keys.attempts)
local native_plan = plan_transfer(keys, request)
local plan, count = locate(keys.entries, found)

local gone, values, letters, records, causes = {}, {}, {}, {}, {}
for i = 1, count do
  local entry = found[i]
  local value = entry_value(entry)
  gone[i] = entry
  if value then
    values[#values + 1] = value
  else
    local id = 'unreadable-' .. redis.sha1hex(entry)
    letters[#letters + 1], letters[#letters + 2] = now, id
    records[#records + 1], records[#records + 2] = id, pack_record(now, now, entry)
    causes[#causes + 1], causes[#causes + 2] = id, unreadable_error
  end
end

check_permissions('RPUSH', keys.wake)
if count > 0 then
  check_permissions('ZREM', keys.timeouts, 'RPUSH', keys.target, 'SET', keys.mover)
  check_unlist(keys.entries)
end
if #letters > 0 then
  check_permissions('ZADD', keys.dead, 'HSET', keys.messages, 'HSET', keys.errors)
end
if count > 0 then
  redis.call('ZREM', keys.timeouts, unpack(gone))
  unlist(keys.entries, plan)
end
local report = execute_transfer(keys, request, native_plan)
if #values > 0 then
  report.last_move = request.scheduler .. ' ' .. string.format('%.0f', now)
  redis.call('RPUSH', keys.target, unpack(values))
  redis.call('SET', keys.mover, report.last_move)
  length = length + #values
end
if #letters > 0 then
  redis.call('ZADD', keys.dead, unpack(letters))
  redis.call('HSET', keys.messages, unpack(records))
  redis.call('HSET', keys.errors, unpack(causes))
  report.dropped = report.dropped
    + drop_oldest_dead(keys.dead, keys.errors, keys.messages, keys.attempts, request.max_dead)
end
if length > 0 and not is_paused then
  ring(keys.wake)
end
local is_cut_short = count < #found or count == request.limit
if not is_cut_short then
  forget_taken(keys, now, FORGET)
end

local next_at = lowest(keys.timeouts) or report.next_at or -1
return {
  report.moved + #values, report.recovered, report.buried, report.dropped, (report.more or is_cut_short) and 1 or 0,
  report.ready + length, now_micros, math.min(next_at, report.next_at or next_at), report.last_move, length,
}
