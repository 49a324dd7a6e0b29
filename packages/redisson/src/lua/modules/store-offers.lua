-- Stores the offers of a call; offer.lua describes the arguments and the reply. First a plan, which only reads.

-- Refuses a call if the last entry was written in the other format: who wrote it could read no entry of this one. Of the new format,
-- those written here do not count.
local function check_format(q)
  local last = q.beside ~= '1' and call('LINDEX', q.entries, -1)
  if not last then
    return
  end
  local _, id_at = Entry.read_heads(last)
  local is_other = id_at == 1
  if q.format == 'dLc0' then
    is_other = id_at == 2 and not Entry.sequence(last)
  end
  if is_other then
    error({ err = 'FORMAT the last entry has another format; nothing was written' })
  end
end

-- How many more messages the queue may have.
local function room_left(q)
  if q.max_messages == 0 then
    return huge
  end
  return q.max_messages - call('ZCARD', q.timeouts) - call('LLEN', q.target)
    - call('HLEN', q.messages)
end

-- Notes for each message to store the digest of its value, and whether another message, or another offer of the call, has it.
local function plan_digests(q, args, plan)
  local digests, seen = {}, {}
  for place, i in ipairs(plan.sources) do
    digests[place] = args[plan.offers.at[i] + 3]
  end
  plan.digests, plan.repeats = digests, #digests > 0 and call('HMGET', q.values, unpack(digests))
  for i, digest in ipairs(digests) do
    plan.repeats[i] = plan.repeats[i] or seen[digest]
    plan.any_repeats = plan.any_repeats or plan.repeats[i]
    seen[digest] = true
  end
end

-- `taken`: records of messages that Java consumers took, by id; the ids are free, and they must be forgotten. `waiting`: messages
-- that were offered here and that no consumer has taken; they may be replaced. `receipts`: the reply.
function StoreOffers.plan(q, args, now_micros)
  check_format(q)
  local offers, taken, waiting = Offers.read(args, 6, 4, q.messages), {}, {}
  local offered = call('HMGET', q.offered, unpack(offers.ids))
  for i, record in ipairs(offered) do
    offers.stored[i] = record or offers.stored[i]
  end

  local function due_in_use(record, id, i)
    if taken[id] then
      return nil
    end
    if offered[i] and not waiting[id] then
      local entry = Offered.entry_of(record)
      local value = Entry.value(entry) or ''
      local state = State.of(q, entry, value)
      if state == 'taken' then
        taken[id] = record
        return nil
      end
      waiting[id] = { record = record, entry = entry, value = value, state = state }
    end
    return Record.due(record)
  end
  local sequence = Sequence.next(call('GET', q.sequence), now_micros)
  local plan = Offers.decide(offers, room_left(q), now_micros, { due_in_use = due_in_use })
  plan.offers, plan.taken, plan.waiting, plan.sequence = offers, taken, waiting, sequence
  plan_digests(q, args, plan)
  -- So that a queue that is only offered to here keeps less than it holds: most of those examined may still be delayed.
  plan.examined = min(Taken.surely_taken(q), 2 * #offers.ids + 2)
  return plan
end

-- Raises an error before the first write, or announces what the plan is about to store.
function StoreOffers.announce(q, plan)
  Permissions.check('ZADD', q.timeouts, 'HSET', q.offered, 'HSET', q.values, 'SET', q.sequence)
  if plan.any_repeats then
    call('ZCARD', q.repeated)
    Permissions.check('ZADD', q.repeated)
  end
  if plan.examined > 0 or next(plan.taken) then
    Taken.check_forget(q)
  end
  if #plan.replaced > 0 or next(plan.taken) then
    -- Otherwise the first write goes to this list, and fails by itself if it cannot be done.
    call('LLEN', q.entries)
    Permissions.check('RPUSH', q.entries)
  end
  if call('ZCOUNT', q.timeouts, '-inf', plan.earliest) == 0 then
    call('PUBLISH', q.channel, format('%.0f', plan.earliest))
  end
end

function StoreOffers.run(q, plan, now)
  for id, record in pairs(plan.taken) do
    Forget.run(q, id, record)
  end
  local scores, entries, timeouts, records, singles, repeated = plan.scores, {}, {}, {}, {}, {}
  local offers = plan.offers
  for i, source in ipairs(plan.sources) do
    local id, due, digest = offers.ids[source], scores[2 * i - 1], plan.digests[i]
    local entry = Entry.pack(q.format, plan.sequence + i - 1, offers.bodies[source])
    local record = Record.pack(due, now, entry)
    entries[i] = entry
    timeouts[2 * i - 1], timeouts[2 * i] = due, entry
    records[2 * i - 1], records[2 * i] = id, record
    if plan.repeats[i] then
      repeated[#repeated + 1], repeated[#repeated + 2] = 0, Offered.place_of(digest, id, record)
    else
      singles[#singles + 1], singles[#singles + 2] = digest, id
    end
  end

  call('RPUSH', q.entries, unpack(entries))
  call('ZADD', q.timeouts, unpack(timeouts))
  call('HSET', q.offered, unpack(records))
  if #singles > 0 then
    call('HSET', q.values, unpack(singles))
  end
  if #repeated > 0 then
    call('ZADD', q.repeated, unpack(repeated))
  end
  Sequence.store(q.sequence, plan.sequence + #entries - 1)
  Taken.forget(q, plan.examined)
end
