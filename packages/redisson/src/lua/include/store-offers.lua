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

-- Refuses a call if the last entry was written in the other format: who wrote it could read no entry of this one. Of the new format,
-- those written here do not count.
local function check_format()
  local last = args.beside ~= '1' and redis.call('LINDEX', keys.entries, -1)
  if not last then
    return
  end
  local _, id_at = read_heads(last)
  local is_other = id_at == 1
  if args.format == 'dLc0' then
    is_other = id_at == 2 and not entry_sequence(last)
  end
  if is_other then
    error({ err = 'FORMAT the last entry has another format; nothing was written' })
  end
end

-- How many more messages the queue may have.
local function room_left()
  if args.max_messages == 0 then
    return math.huge
  end
  return args.max_messages - redis.call('ZCARD', keys.timeouts) - redis.call('LLEN', keys.target)
    - redis.call('HLEN', keys.messages)
end

-- Notes for each message to store the digest of its value, and whether another message, or another offer of the call, has it.
local function plan_digests(plan)
  local digests, seen = {}, {}
  for i, at in ipairs(plan.sources) do
    digests[i] = ARGV[at + 4]
  end
  plan.digests, plan.repeats = digests, #digests > 0 and redis.call('HMGET', keys.values, unpack(digests))
  for i, digest in ipairs(digests) do
    plan.repeats[i] = plan.repeats[i] or seen[digest]
    plan.any_repeats = plan.any_repeats or plan.repeats[i]
    seen[digest] = true
  end
end

-- `taken`: records of messages that Java consumers took, by id; the ids are free, and they must be forgotten. `waiting`: messages
-- that were offered here and that no consumer has taken; they may be replaced. `receipts`: the reply.
local function plan_offers(now_micros)
  check_format()
  local offers, taken, waiting = read_offers(5), {}, {}
  local offered = redis.call('HMGET', keys.offered, unpack(offers.ids))
  for i, record in ipairs(offered) do
    offers.stored[i] = record or offers.stored[i]
  end

  local function due_in_use(record, id, i)
    if taken[id] then
      return nil
    end
    if offered[i] and not waiting[id] then
      local entry = entry_of(record)
      local value = entry_value(entry) or ''
      local state = offered_state(entry, value)
      if state == 'taken' then
        taken[id] = record
        return nil
      end
      waiting[id] = { record = record, entry = entry, value = value, state = state }
    end
    return record_due(record)
  end
  local plan = { taken = taken, waiting = waiting, sequence = next_sequence(redis.call('GET', keys.sequence), now_micros) }
  plan.receipts, plan.scores, plan.sources, plan.replaced, plan.earliest =
    decide_offers(offers, room_left(), now_micros, due_in_use)
  plan_digests(plan)
  -- So that a queue that is only offered to here keeps less than it holds: most of those examined may still be delayed.
  plan.examined = math.min(surely_taken(), 2 * #offers.ids + 2)
  return plan
end

-- Raises an error before the first write, or announces what the plan is about to store.
local function announce_offers(plan)
  check_permissions('ZADD', keys.timeouts, 'HSET', keys.offered, 'HSET', keys.values, 'SET', keys.sequence)
  if plan.any_repeats then
    redis.call('ZCARD', keys.repeated)
    check_permissions('ZADD', keys.repeated)
  end
  if plan.examined > 0 or next(plan.taken) then
    check_forget_taken()
  end
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
  local scores, entries, timeouts, records, singles, repeated = plan.scores, {}, {}, {}, {}, {}
  for i, at in ipairs(plan.sources) do
    local id, due, digest = ARGV[at], scores[2 * i - 1], plan.digests[i]
    local entry = pack_entry(args.format, plan.sequence + i - 1, ARGV[at + 3])
    local record = pack_record(due, now, entry)
    entries[i] = entry
    timeouts[2 * i - 1], timeouts[2 * i] = due, entry
    records[2 * i - 1], records[2 * i] = id, record
    if plan.repeats[i] then
      repeated[#repeated + 1], repeated[#repeated + 2] = 0, place_of(digest, id, record)
    else
      singles[#singles + 1], singles[#singles + 2] = digest, id
    end
  end

  redis.call('RPUSH', keys.entries, unpack(entries))
  redis.call('ZADD', keys.timeouts, unpack(timeouts))
  redis.call('HSET', keys.offered, unpack(records))
  if #singles > 0 then
    redis.call('HSET', keys.values, unpack(singles))
  end
  if #repeated > 0 then
    redis.call('ZADD', keys.repeated, unpack(repeated))
  end
  store_sequence(keys.sequence, plan.sequence + #entries - 1)
  forget_taken(plan.examined)
end
