#!lua flags=allow-oom
-- Ends claims, each with its outcome.
--
-- KEYS 1 delayed  2 messages  3 active  4 claims  5 attempts  6 dead  7 errors
-- ARGV 1 channel of announcements
--      2 most dead letters
--      then for each settlement: id, token, outcome ('ack', 'retry', 'defer' or 'dead'), its detail (ack: empty; retry and
--      defer: delay in ms; dead: error, JSON)
-- Returns dropped (oldest dead letters), then for each settlement 1, or 0 if the claim was no longer held: then nothing
--      was changed for it.
--
-- Atomic so that fence and outcome are one step: a consumer that lost its lease can change nothing. A crash right after
-- leaves the outcomes in force; a crash right before leaves the leases to end by themselves.
--@include clock
--@include record
--@include announce
--@include dead

local delayed, messages, active, claims, attempts, dead, errors = unpack(KEYS)
local channel, max_dead = ARGV[1], tonumber(ARGV[2])
local FIRST, WIDTH = 3, 4

local ids = {}
for at = FIRST, #ARGV, WIDTH do
  ids[#ids + 1] = ARGV[at]
end
local holders = redis.call('HMGET', claims, unpack(ids))
redis.call('ZCARD', active)
check_dead(dead, errors, messages, attempts)
local earliest_before = earliest_due(delayed)
local now, now_micros = read_clock()

local reply = { 0 }
local ended, gone = {}, {}
local scores, records, failures = {}, {}, {}
local letters, causes = {}, {}
local earliest
local seen = {}

for i, id in ipairs(ids) do
  local at = FIRST + (i - 1) * WIDTH
  local token, outcome, detail = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local held = holders[i] == token and not seen[id]
  reply[i + 1] = held and 1 or 0
  if held then
    seen[id] = true
    ended[#ended + 1] = id
    if outcome == 'ack' then
      gone[#gone + 1] = id
    elseif outcome == 'dead' then
      letters[#letters + 1], letters[#letters + 2] = now, id
      causes[#causes + 1], causes[#causes + 2] = id, detail
    else
      local record = redis.call('HGET', messages, id)
      if is_record(record) then
        local due = instant_in(tonumber(detail), now_micros)
        scores[#scores + 1], scores[#scores + 2] = due, id
        records[#records + 1], records[#records + 2] = id, with_due(record, due)
        if not earliest or due < earliest then
          earliest = due
        end
      else
        gone[#gone + 1] = id
      end
    end
    if outcome == 'retry' or outcome == 'dead' then
      failures[#failures + 1] = id
    end
  end
end

if #ended == 0 then
  return reply
end
local spent = {}
if #failures > 0 then
  local failed = redis.call('HMGET', attempts, unpack(failures))
  for i, id in ipairs(failures) do
    spent[#spent + 1], spent[#spent + 2] = id, (tonumber(failed[i] or 0) or 0) + 1
  end
end
announce(channel, earliest_before, earliest, now)
redis.call('ZREM', active, unpack(ended))
redis.call('HDEL', claims, unpack(ended))
if #spent > 0 then
  redis.call('HSET', attempts, unpack(spent))
end
if #gone > 0 then
  redis.call('HDEL', messages, unpack(gone))
  redis.call('HDEL', attempts, unpack(gone))
end
if #scores > 0 then
  redis.call('ZADD', delayed, unpack(scores))
  redis.call('HSET', messages, unpack(records))
end
if #letters > 0 then
  redis.call('ZADD', dead, unpack(letters))
  redis.call('HSET', errors, unpack(causes))
  reply[1] = drop_oldest_dead(dead, errors, messages, attempts, max_dead)
end
return reply
