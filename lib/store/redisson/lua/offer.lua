#!lua
-- Stores new messages like Redisson's offer does, and keeps their ids beside them.
--
-- KEYS timeouts entries target offered values sequence messages
--      [delayed ready claims leases attempts dead errors] if an offer may replace a message
-- ARGV as native/offer; the channel is Redisson's
--      format: text, of entries, 'Bc0Lc0' or 'dLc0'
-- Returns the same as native/offer.
--
-- Atomic because an id must be looked up and taken in one step, and because Redisson's sorted set and list must agree. A crash
-- right after leaves the messages stored; a lost announcement costs a check interval.
-- If memory is short, the server refuses this script before it starts.
--@include native/clock
--@include native/deadline
--@include native/permission
--@include native/record
--@include native/offers
--@include native/take-out
--@include entry
--@include sequence
--@include offered
--@include state
--@include forget
--@include taken
--@include unlist

-- How many messages taken by Java consumers each call forgets.
local FORGET = 4

local now, now_micros = read_clock()
check_deadline(args.deadline, now)
-- Whether there are messages that Java consumers may have taken.
local any_due = redis.call('ZCOUNT', keys.offered, '-inf', now) > 0
if any_due then
  check_forget_taken()
end
local room = math.huge
if args.max_messages > 0 then
  room = args.max_messages - redis.call('ZCARD', keys.timeouts) - redis.call('LLEN', keys.target)
    - redis.call('HLEN', keys.messages) + redis.call('ZCARD', keys.offered)
end
local sequence = next_sequence(redis.call('GET', keys.sequence), now_micros)

-- `taken`: messages that Java consumers took; their ids are free, and they must be forgotten. `waiting`: messages that were
-- offered here and that no consumer has taken; they may be replaced.
local taken, waiting = {}, {}
local function due_in_use(record, id)
  if taken[id] then
    return nil
  end
  if not waiting[id] and redis.call('ZSCORE', keys.offered, id) then
    local entry = entry_of(record)
    local value = entry_value(entry) or ''
    local state = offered_state(entry, value)
    if state == 'taken' then
      check_forget_taken()
      taken[id] = record
      return nil
    end
    waiting[id] = { record = record, entry = entry, value = value, state = state }
  end
  return record_due(record)
end

local receipts, scores, records, replaced, earliest = decide_offers(room, now_micros, due_in_use)
if #scores == 0 then
  return receipts
end
if #replaced > 0 then
  check_take_out()
  check_permissions('ZREM', keys.timeouts, 'LREM', keys.target)
  check_unlist(keys.entries)
  check_forget()
end
check_permissions(
  'RPUSH', keys.entries, 'ZADD', keys.timeouts, 'ZADD', keys.offered, 'HSET', keys.messages, 'SET', keys.sequence
)
if #replaced > 0 or next(taken) then
  -- Otherwise the first write goes to this list, and fails by itself if the key has another type.
  redis.call('LLEN', keys.entries)
end
if redis.call('ZCOUNT', keys.timeouts, '-inf', earliest) == 0 then
  redis.call('PUBLISH', args.channel, string.format('%.0f', earliest))
end

for id, record in pairs(taken) do
  forget_offered(id, record)
end
local unlisted = {}
for _, id in ipairs(replaced) do
  local old = waiting[id]
  if not old then
    take_out(id)
  else
    if old.state == 'delayed' then
      redis.call('ZREM', keys.timeouts, old.entry)
      unlisted[#unlisted + 1] = old.entry
    else
      redis.call('LREM', keys.target, 1, old.value)
    end
    forget_offered(id, old.record)
  end
end
unlist_all(keys.entries, unlisted)

local timeouts, entries = {}, {}
for at = 2, #records, 2 do
  local due, entry = scores[at - 1], pack_entry(args.format, sequence + #entries, records[at])
  entries[#entries + 1] = entry
  timeouts[at - 1], timeouts[at] = due, entry
  records[at] = pack_record(due, now, entry)
end

redis.call('RPUSH', keys.entries, unpack(entries))
redis.call('ZADD', keys.timeouts, unpack(timeouts))
redis.call('ZADD', keys.offered, unpack(scores))
redis.call('HSET', keys.messages, unpack(records))
store_sequence(keys.sequence, sequence + #entries - 1)
if any_due then
  forget_taken(now, FORGET)
end
return receipts
