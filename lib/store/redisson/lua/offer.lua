#!lua
-- Takes new messages in, as Redisson's offer does, and keeps their ids beside.
--
-- KEYS 1 timeouts  2 entries  3 target  4 offered  5 values  6 sequence  7 messages; and, if an offer may replace a message:
--      8 delayed  9 ready  10 claims  11 leases  12 attempts  13 dead  14 errors
-- ARGV 1 deadline in ms, 0: none
--      2 channel of Redisson
--      3 most messages in the queue, 0: no limit
--      4 format of entries, 'Bc0Lc0' or 'dLc0'
--      then for each offer: id, due ('+' and a delay, or '@' and an instant, in ms), on duplicate
--      ('keep', 'replace' or 'reject'), value
-- Returns for each offer its due in ms (0: there is none); then, for each that was not created, its place (from 1) and what became
--      of it: 'kept', 'replaced', 'rejected' or 'full'.
--
-- Atomic because an id must be looked up and taken in one step, and because Redisson's sorted set and list must agree. A crash
-- right after leaves the messages stored; a lost announcement costs a check interval.
-- Without enough memory the server refuses this script before it starts.
--@include native/clock
--@include native/deadline
--@include native/permission
--@include native/record
--@include native/announce
--@include native/held
--@include native/holders
--@include native/take-out
--@include native/receipts
--@include entry
--@include sequence
--@include offered
--@include taken
--@include unlist

local keys = {
  timeouts = KEYS[1], entries = KEYS[2], target = KEYS[3], offered = KEYS[4], values = KEYS[5], sequence = KEYS[6],
  messages = KEYS[7], delayed = KEYS[8], ready = KEYS[9], claims = KEYS[10], leases = KEYS[11], attempts = KEYS[12],
  dead = KEYS[13], errors = KEYS[14],
}
local deadline, channel, max_messages, format = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]
local FIRST, WIDTH = 5, 4
-- Of those that consumers of Java's took, so many are forgotten by each call: more than a call brings in the long run.
local FORGET = 4

local now, now_micros = read_clock()
check_deadline(deadline, now)
-- Any that may have been taken by consumers of Java's.
local any_due = redis.call('ZCOUNT', keys.offered, '-inf', now) > 0
if any_due then
  check_forget_taken(keys)
end
local size = 0
if max_messages > 0 then
  size = redis.call('ZCARD', keys.timeouts) + redis.call('LLEN', keys.target)
    + redis.call('HLEN', keys.messages) - redis.call('ZCARD', keys.offered)
end
local sequence = next_sequence(redis.call('GET', keys.sequence), now_micros)

local ids = {}
for at = FIRST, #ARGV, WIDTH do
  ids[#ids + 1] = ARGV[at]
end
local stored = redis.call('HMGET', keys.messages, unpack(ids))

-- What is there of an id that is in use; nil: it is free. One whose message Java took is free, and to be forgotten.
local taken, found = {}, {}
local function look_up(i, id)
  local record = stored[i]
  if not record or taken[id] then
    return nil
  end
  if not found[id] then
    local existing = { due = record_due(record), record = record }
    if redis.call('ZSCORE', keys.offered, id) then
      existing.entry = entry_of(record)
      existing.value = entry_value(existing.entry) or ''
      existing.state = offered_state(keys, existing.entry, existing.value)
      if existing.state == 'taken' then
        check_forget_taken(keys)
        taken[id] = existing
        return nil
      end
    end
    found[id] = existing
  end
  return found[id]
end

local dues, outcomes = {}, {}
local added, order, replaced = {}, {}, {}
local earliest

for i, id in ipairs(ids) do
  local at = FIRST + (i - 1) * WIDTH
  local when, on_duplicate, value = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local existing = added[id] or look_up(i, id)
  local outcome, due

  if existing and on_duplicate ~= 'replace' then
    outcome, due = on_duplicate == 'keep' and 'kept' or 'rejected', existing.due
  elseif not existing and max_messages > 0 and size >= max_messages then
    outcome, due = 'full', 0
  else
    outcome = existing and 'replaced' or 'created'
    due = due_instant(when, now_micros)
    if not existing then
      size = size + 1
    elseif not added[id] then
      replaced[#replaced + 1] = id
    end
    if not added[id] then
      order[#order + 1] = id
    end
    added[id] = { due = due, value = value }
    if not earliest or due < earliest then
      earliest = due
    end
  end
  dues[i], outcomes[i] = due, outcome
end
local receipts = receipts_of(dues, outcomes)

if #order == 0 then
  return receipts
end
if #replaced > 0 then
  check_take_out(keys)
  check_permissions('ZREM', keys.timeouts, 'LREM', keys.target)
  check_unlist(keys.entries)
  check_forget(keys)
end
check_permissions(
  'RPUSH', keys.entries, 'ZADD', keys.timeouts, 'ZADD', keys.offered, 'HSET', keys.messages, 'SET', keys.sequence
)
if #replaced > 0 or next(taken) then
  -- Else the first write is one to this list, and refused for a wrong type itself.
  redis.call('LLEN', keys.entries)
end
if redis.call('ZCOUNT', keys.timeouts, '-inf', earliest) == 0 then
  redis.call('PUBLISH', channel, string.format('%.0f', earliest))
end

for id, gone in pairs(taken) do
  forget_offered(keys, id, gone.record)
end
for _, id in ipairs(replaced) do
  local old = found[id]
  if not old.entry then
    take_out(keys, id)
  else
    if old.state == 'delayed' then
      redis.call('ZREM', keys.timeouts, old.entry)
      unlist(keys.entries, (locate(keys.entries, { old.entry })))
    else
      redis.call('LREM', keys.target, 1, old.value)
    end
    forget_offered(keys, id, old.record)
  end
end

local timeouts, entries, offered, records = {}, {}, {}, {}
for i, id in ipairs(order) do
  local message = added[id]
  local entry = pack_entry(format, sequence + i - 1, message.value)
  entries[i] = entry
  timeouts[#timeouts + 1], timeouts[#timeouts + 2] = message.due, entry
  offered[#offered + 1], offered[#offered + 2] = message.due, id
  records[#records + 1], records[#records + 2] = id, pack_record(message.due, now, entry)
end

redis.call('RPUSH', keys.entries, unpack(entries))
redis.call('ZADD', keys.timeouts, unpack(timeouts))
redis.call('ZADD', keys.offered, unpack(offered))
redis.call('HSET', keys.messages, unpack(records))
store_sequence(keys.sequence, sequence + #order - 1)
if any_due then
  forget_taken(keys, now, FORGET)
end
return receipts
