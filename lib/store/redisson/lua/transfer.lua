#!lua flags=allow-oom
-- Moves what is due to the target list, as Redisson's transfer does; entries that cannot be read become dead letters.
--
-- KEYS 1 timeouts  2 entries  3 target  4 offered  5 values  6 messages  7 attempts  8 dead  9 errors  10 wake  11 mover
--      12 paused
-- ARGV 1 scheduler that asks
--      2 most entries to move (1-1000)
--      3 most dead letters
--      4 error of a dead letter that was an entry nobody can read, JSON
-- Returns moved, dropped (oldest dead letters), unreadable, more (0 or 1), length of the target list, now in microseconds, next
--      due in ms (-1: none is known).
--
-- Atomic so that a message is never in two places and never in none, and so that a token is at the doorbell while values wait.
-- Java's own transfer does the same to the same keys: whoever is first moves an entry, the other does not see it any more. A
-- crash right after leaves the values in the target list, with the token waiting for the next consumer.
--@include native/clock
--@include native/record
--@include native/announce
--@include native/ring
--@include native/dead
--@include entry
--@include offered
--@include taken
--@include unlist

local keys = { timeouts = KEYS[1], target = KEYS[3], offered = KEYS[4], values = KEYS[5], messages = KEYS[6] }
local entries, attempts, dead, errors, wake, mover, paused = KEYS[2], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local scheduler, limit, max_dead, unreadable_error = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local FORGET = 100

local now, now_micros = read_clock()
local found = redis.call('ZRANGE', keys.timeouts, '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)
local length = redis.call('LLEN', keys.target)
local is_paused = redis.call('GET', paused)
redis.call('GET', mover)
redis.call('LLEN', wake)
redis.call('ZCARD', keys.offered)
redis.call('HLEN', keys.values)
check_dead(dead, errors, keys.messages, attempts)
local plan, count = locate(entries, found)

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

local dropped = 0
if count > 0 then
  redis.call('ZREM', keys.timeouts, unpack(gone))
  unlist(entries, plan)
end
if #values > 0 then
  redis.call('RPUSH', keys.target, unpack(values))
  redis.call('SET', mover, scheduler .. ' ' .. string.format('%.0f', now))
  length = length + #values
end
if #letters > 0 then
  redis.call('ZADD', dead, unpack(letters))
  redis.call('HSET', keys.messages, unpack(records))
  redis.call('HSET', errors, unpack(causes))
  dropped = drop_oldest_dead(dead, errors, keys.messages, attempts, max_dead)
end
if length > 0 and not is_paused then
  ring(wake)
end
local more = count < #found or count == limit
if not more then
  forget_taken(keys, now, FORGET)
end
return { #values, dropped, #letters / 2, more and 1 or 0, length, now_micros, earliest_due(keys.timeouts) or -1 }
