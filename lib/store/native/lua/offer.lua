#!lua
-- Takes new messages in.
--
-- KEYS 1 delayed  2 messages  3 ready  4 claims  5 leases  6 attempts  7 dead  8 errors
-- ARGV 1 deadline in ms, 0: none
--      2 channel of announcements
--      3 most messages in the queue, 0: no limit
--      then for each offer: id, due ('+' and a delay, or '@' and an instant, in ms), on duplicate
--      ('keep', 'replace' or 'reject'), body
-- Returns for each offer its due in ms (0: there is none); then, for each that was not created, its place (from 1) and what became
--      of it: 'kept', 'replaced', 'rejected' or 'full'.
--
-- Atomic because an id must be looked up and taken in one step, and because a due time that is stored but not announced
-- would be found late. A crash right after leaves the messages stored; a lost announcement costs a check interval.
-- Without enough memory the server refuses this script before it starts.
--@include clock
--@include deadline
--@include permission
--@include record
--@include announce
--@include held
--@include holders
--@include take-out
--@include receipts

local delayed, messages, ready, claims, leases, attempts, dead, errors = unpack(KEYS)
local deadline, channel, max_messages = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local FIRST, WIDTH = 4, 4

local now, now_micros = read_clock()
check_deadline(deadline, now)
local earliest_before = earliest_due(delayed)
local size = max_messages > 0 and redis.call('HLEN', messages) or 0

local ids = {}
for at = FIRST, #ARGV, WIDTH do
  ids[#ids + 1] = ARGV[at]
end
local stored = redis.call('HMGET', messages, unpack(ids))

local dues, outcomes = {}, {}
local replaced = {}
local scores, records = {}, {}
local due_of = {}
local taken_in = 0
local earliest

for i, id in ipairs(ids) do
  local at = FIRST + (i - 1) * WIDTH
  local when, on_duplicate, body = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local existing = due_of[id] or (stored[i] and record_due(stored[i]))
  local outcome, due = 'created', 0

  if existing and on_duplicate ~= 'replace' then
    outcome, due = on_duplicate == 'keep' and 'kept' or 'rejected', existing
  elseif not existing and max_messages > 0 and size >= max_messages then
    outcome = 'full'
  else
    due = due_instant(when, now_micros)
    if not existing then
      size = size + 1
    else
      outcome = 'replaced'
      if not due_of[id] then
        replaced[#replaced + 1] = id
      end
    end
    due_of[id] = due
    local to = 2 * taken_in
    taken_in = taken_in + 1
    scores[to + 1], scores[to + 2] = due, id
    records[to + 1], records[to + 2] = id, pack_record(due, now, body)
    if not earliest or due < earliest then
      earliest = due
    end
  end
  dues[i], outcomes[i] = due, outcome
end
local receipts = receipts_of(dues, outcomes)

if taken_in == 0 then
  return receipts
end

local replaced_keys = {
  delayed = delayed, ready = ready, claims = claims, leases = leases, attempts = attempts, dead = dead, errors = errors,
}
if #replaced > 0 then
  check_take_out(replaced_keys)
end
check_permissions('ZADD', delayed, 'HSET', messages)
announce(channel, earliest_before, earliest, now)

for _, id in ipairs(replaced) do
  take_out(replaced_keys, id)
end
redis.call('ZADD', delayed, unpack(scores))
redis.call('HSET', messages, unpack(records))
return receipts
