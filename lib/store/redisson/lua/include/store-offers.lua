-- Stores the offers of a call; offer.lua describes the arguments and the reply. First a plan, which only reads.
--@include native/permission
--@include native/record
--@include native/offers
--@include entry
--@include sequence
--@include offered
--@include state
--@include forget
--@include taken

-- How many messages taken by Java consumers each call forgets.
local FORGET = 4

-- How many more messages the queue may have.
local function room_left()
  if args.max_messages == 0 then
    return math.huge
  end
  return args.max_messages - redis.call('ZCARD', keys.timeouts) - redis.call('LLEN', keys.target)
    - redis.call('HLEN', keys.messages) + redis.call('ZCARD', keys.offered)
end

-- `any_due`: whether there are messages that Java consumers may have taken. `taken`: records of those that they took, by id; the
-- ids are free, and they must be forgotten. `waiting`: messages that were offered here and that no consumer has taken; they may
-- be replaced. `receipts`: the reply.
local function plan_offers(now, now_micros)
  local taken, waiting = {}, {}
  local plan = { taken = taken, waiting = waiting, any_due = redis.call('ZCOUNT', keys.offered, '-inf', now) > 0 }
  if plan.any_due then
    check_forget_taken()
  end
  local room = room_left()
  plan.sequence = next_sequence(redis.call('GET', keys.sequence), now_micros)

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
  plan.receipts, plan.scores, plan.records, plan.replaced, plan.earliest = decide_offers(room, now_micros, due_in_use)
  return plan
end

-- Raises an error before the first write, or announces what the plan is about to store.
local function announce_offers(plan)
  check_permissions('ZADD', keys.timeouts, 'ZADD', keys.offered, 'HSET', keys.messages, 'SET', keys.sequence)
  if #plan.replaced > 0 or next(plan.taken) then
    -- Otherwise the first write goes to this list, and fails by itself if it cannot be done.
    redis.call('LLEN', keys.entries)
    check_permissions('RPUSH', keys.entries)
  end
  if redis.call('ZCOUNT', keys.timeouts, '-inf', plan.earliest) == 0 then
    redis.call('PUBLISH', args.channel, string.format('%.0f', plan.earliest))
  end
end

local function store_offers(plan, now)
  for id, record in pairs(plan.taken) do
    forget_offered(id, record)
  end
  local scores, records, timeouts, entries = plan.scores, plan.records, {}, {}
  for at = 2, #records, 2 do
    local due, entry = scores[at - 1], pack_entry(args.format, plan.sequence + #entries, records[at])
    entries[#entries + 1] = entry
    timeouts[at - 1], timeouts[at] = due, entry
    records[at] = pack_record(due, now, entry)
  end

  redis.call('RPUSH', keys.entries, unpack(entries))
  redis.call('ZADD', keys.timeouts, unpack(timeouts))
  redis.call('ZADD', keys.offered, unpack(scores))
  redis.call('HSET', keys.messages, unpack(records))
  store_sequence(keys.sequence, plan.sequence + #entries - 1)
  if plan.any_due then
    forget_taken(now, FORGET)
  end
end
