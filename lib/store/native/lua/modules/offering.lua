-- Stores new messages for offer.lua, which describes keys, arguments and reply, and for offer-unless-kept.lua.

-- The first byte of a body with a group, which only offers to groups have, and that of a body that was put off.
local GROUPED, PUT_OFF = 78, 87

-- Makes a follower of each offer with 'follow' whose id an active message has, and changes its receipt from 'kept' to 'followed'. Returns
-- the id and the stored form of the last follower for each id. An offer that replaces the message discards earlier followers.
local function plan_followers(offers, receipts, is_active)
  local last, is_new, list = {}, {}, {}
  for at = #offers.ids + 1, #receipts, 2 do
    local i = receipts[at]
    local id = offers.ids[i]
    if receipts[at + 1] == 'replaced' then
      is_new[id], last[id] = true, nil
    elseif receipts[at + 1] == 'kept' and offers.on_duplicate[i] == 'follow' and not is_new[id] and is_active(id) then
      receipts[at + 1], last[id] = 'followed', offers.dues[i] .. '\n' .. offers.bodies[i]
    end
  end
  for id, text in pairs(last) do
    list[#list + 1], list[#list + 2] = id, text
  end
  return list
end

-- Decides what an offer of a repeating message does if its id is in use: 'replace' if the existing message is dead; else 'keep' if that, or
-- its follower, has the same body, whatever its progress; 'reject' if the offered due time has passed, because that occurrence may already
-- be handled; 'follow' if the message is active; 'replace' if it is delayed for its first attempt. Else: 'keep', but with the new body
-- (`rewritten`: id, record). If the existing message is paused, so is the offered one.
local function decide_repeat(q, record, offers, i, about, rewritten, now)
  local id, body = offers.ids[i], offers.bodies[i]
  local follower = call('HMGET', q.followers, id)[1]
  local present = follower and match(follower, '\n(.*)$') or sub(record, Record.wrapping_end(record) + 1)
  if call('ZSCORE', q.dead, id) then
    return 'replace'
  elseif Record.with_progress(present, 1, '') == Record.with_progress(body, 1, '') then
    return 'keep'
  elseif tonumber(sub(offers.dues[i], 2)) <= now then
    return 'reject'
  end
  local is_delayed = about.is_delayed(id) and Record.due(record) > now and not call('HGET', q.attempts, id)
  if Record.is_paused(present, 1) then
    body = Record.with_pause(body, 1, true)
    offers.bodies[i] = body
    offers.dues[i] = is_delayed and '@' .. format('%d', Record.PAUSED_UNTIL) or offers.dues[i]
  end
  if about.is_active(id) then
    return 'follow'
  elseif is_delayed then
    return 'replace'
  end
  rewritten[#rewritten + 1] = id
  rewritten[#rewritten + 1] = sub(record, 1, Record.wrapping_end(record)) .. body
  return 'keep'
end

-- Returns records, scores with members, due times, and the earliest due time of new messages. Nil if an id is in use or a body was put off.
local function plan_new(keys, args, now, micros)
  local ids, count, pair = {}, 0, 1
  for at = 5, #args, 3 do
    count = count + 1
    ids[count] = args[at]
  end
  local stored = call('HMGET', keys[2], unpack(ids))
  local records, scores, dues, last_of = {}, {}, {}, {}
  local last_when, due, score, head, earliest
  count = 0
  for at = 6, #args, 3 do
    count = count + 1
    local id, when, body = ids[count], args[at], args[at + 1]
    local kind = byte(body)
    if stored[count] or kind == PUT_OFF then
      return nil
    end
    if when ~= last_when then
      last_when, due = when, Clock.due(when, micros)
      score, head, earliest = format('%d', due), pack('>I6I6', due, now), Scores.lower(earliest, due)
    end
    dues[count] = due
    records[pair], records[pair + 1] = id, head .. body
    local group = kind == GROUPED and match(body, '^Ngroup\n([^\n]+)\n')
    if group then
      scores[pair], scores[pair + 1] = Scores.in_order(keys[1], last_of, score, group), group .. '\n' .. id
    else
      scores[pair], scores[pair + 1] = score, id
    end
    pair = pair + 2
  end
  return records, scores, dues, earliest
end

-- Stores messages whose ids are free and differ. Returns false, without any change, if more is needed. `keys`: those of a short call.
function Offering.store_new(keys, args)
  local delayed, messages, partitions = keys[1], keys[2], keys[3]
  local deadline, channel, database, partitioning = args[1], args[2], args[3], args[4]
  local now, micros = Clock.read()
  Clock.check(deadline, now)
  local id, body, due, records, scores, dues = args[5], args[7], nil, nil, nil, nil
  local kind = byte(body)
  if args[8] or kind == GROUPED or kind == PUT_OFF then
    records, scores, dues, due = plan_new(keys, args, now, micros)
    if not records then
      return false
    end
  else
    due = Clock.due(args[6], micros)
  end
  local score = format('%d', due)
  -- Usually, no partitioning is stored. If nothing is delayed either, one call shows both.
  local is_whole = partitioning == '0 1'
  local existing = is_whole and call('EXISTS', delayed, partitions)
  local is_earliest = existing == 0 or call('ZCOUNT', delayed, '-inf', score) == 0
  if not is_whole or existing > (is_earliest and 0 or 1) then
    Partitioning.check(partitions, partitioning)
  end
  -- The first write proves its own permission. The complete offer reports any other missing permission.
  local may_store = acl_check('ZADD', delayed, '0', '0')
  if not may_store or is_earliest and not acl_check(Channel.command(database), channel, '0') then
    return false
  end
  if records then
    call('HSET', messages, unpack(records))
    call('ZADD', delayed, unpack(scores))
  elseif protected_call('HSETNX', messages, id, pack('>I6I6', due, now) .. body) == 1 then
    call('ZADD', delayed, score, id)
  else
    return false
  end
  if is_earliest then
    Channel.publish(database, channel, format('%s %de-3', score, due > now and due * 1000 - micros or 0))
  end
  return dues or due
end

-- Begins a call with offers of `words` arguments each. `q`: the keys by name. Returns the request, the offers, and the time in ms and in
-- microseconds.
function Offering.begin(q, args, words)
  local max_messages = tonumber(args[5])
  local request = { deadline = args[1], channel = args[2], database = args[3], groups = q.permits and args[6] }
  if request.groups then
    Groups.begin(q, request.groups)
  end
  local now, micros = Clock.read()
  Clock.check(request.deadline, now)
  Partitioning.check(q.partitions, args[4])
  request.earliest_before = Scores.lowest(q.delayed)
  request.room = max_messages ~= 0 and max_messages - call('HLEN', q.messages) or huge
  return request, Offers.read(args, request.groups and 7 or 6, words, q.messages), now, micros
end

-- Raises an error before the first write if the messages with the ids `replaced` cannot be taken out, or groups cannot be changed.
function Offering.check(q, replaced)
  if #replaced > 0 then
    TakeOut.check(q)
  elseif q.groups then
    Groups.check(q)
  end
  if q.groups then
    Wake.check(q)
    Groups.read(q, replaced)
  end
end

-- Makes offers of any kind. `q`: the keys by name.
function Offering.run(q, args)
  local request, offers, now, micros = Offering.begin(q, args, 3)
  local groups = request.groups

  local function is_delayed(id)
    return call('ZSCORE', q.delayed, groups and Record.member(id, Groups.names(q, { id })[1]) or id)
  end
  local function is_active(id)
    return not is_delayed(id) and not call('ZSCORE', q.dead, id) and TakeOut.holders(q)[id]
  end
  -- Due or retried messages that get another body: id, record.
  local rewritten = {}
  local plan = Offers.decide(offers, request.room, micros, {
    due_in_use = Record.due,
    chain_began = function(record, id)
      return is_delayed(id) and Record.is(record) and Record.offered(record)
    end,
    on_repeat = function(record, i)
      return decide_repeat(q, record, offers, i, { is_active = is_active, is_delayed = is_delayed }, rewritten, now)
    end,
  })
  local receipts, scores, replaced = plan.receipts, plan.scores, plan.replaced
  local followers = plan_followers(offers, receipts, is_active)
  if #followers > 0 then
    call('HLEN', q.followers)
    Permissions.check('HSET', q.followers)
  end
  if #rewritten > 0 then
    Permissions.check('HSET', q.messages)
  end

  local records, last_of = {}, {}
  for place, i in ipairs(plan.sources) do
    local id, body, due = offers.ids[i], offers.bodies[i], scores[2 * place - 1]
    records[2 * place - 1], records[2 * place] = id, Record.pack(due, plan.began[place] or now, body)
    if groups then
      local group = Record.group_at(body, 1)
      scores[2 * place - 1] = Scores.in_order(q.delayed, last_of, due, group)
      scores[2 * place] = Record.member(id, group)
    end
  end
  if #scores > 0 then
    Offering.check(q, replaced)
    Permissions.check('ZADD', q.delayed, 'HSET', q.messages)
    Channel.announce(request.database, request.channel, request.earliest_before, plan.earliest, now)
  end

  for _, id in ipairs(replaced) do
    TakeOut.run(q, id)
  end
  if #followers > 0 then
    call('HSET', q.followers, unpack(followers))
  end
  if #rewritten > 0 then
    call('HSET', q.messages, unpack(rewritten))
  end
  if #scores > 0 then
    call('HSET', q.messages, unpack(records))
    call('ZADD', q.delayed, unpack(scores))
    if groups then
      Wake.signal_ready(q, Groups.store(q))
    end
  end
  return receipts
end
