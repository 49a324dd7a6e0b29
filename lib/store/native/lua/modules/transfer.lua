-- Moves due messages to ready, and takes back active ones with expired leases: first makes a plan, which only reads, then carries it out.

-- Reads a transfer's request from its arguments, which start at `at` and come in the order of transfer.lua.
function Transfer.read_request(args, at)
  local request = {
    limit = tonumber(args[at + 1]), max_attempts = tonumber(args[at + 2]), max_dead = tonumber(args[at + 3]), lease_error = args[at + 4],
    rate = args[at + 5], announcer = args[at],
  }
  request.database, request.channel = match(request.announcer, '^(%S+) %S+ %S+ (.*)$')
  return request
end

-- Returns a sorted set's first members with scores up to now, at most `most`. Reads nothing if `first`, the lowest score, is in the future.
function Transfer.up_to_now(key, first, now, most)
  if first == nil or first > now then
    return {}
  end
  return call('ZRANGE', key, '-inf', now, 'BYSCORE', 'LIMIT', '0', most)
end

-- Returns at most `limit` ids held by these claims, whose leases have expired, and, by token, the string that each claim keeps.
local function expired_claims(q, tokens, limit)
  local expired = { ids = {}, left = {} }
  for _, token in ipairs(tokens) do
    local room = limit - #expired.ids
    if room == 0 then
      break
    end
    local ids = Ids.of(call('HGET', q.claims, token) or '')
    for i = 1, min(#ids, room) do
      expired.ids[#expired.ids + 1] = ids[i]
    end
    expired.left[token] = #ids > room and Ids.text(ids, room + 1) or '\n'
  end
  return expired
end

-- Raises an error before the first write if the user may not change what the plan changes, or announce the transfer.
local function check_permissions(q, request, plan)
  if #plan.due > 0 then
    Permissions.check('ZREMRANGEBYRANK', q.delayed, 'RPUSH', q.ready)
  end
  if #plan.expired.ids > 0 then
    Permissions.check('HSET', q.attempts, 'RPUSH', q.ready, 'ZADD', q.dead, 'HSET', q.errors)
  end
  if next(plan.expired.left) ~= nil then
    Claims.check_store(q)
  end
  Permissions.check('RPUSH', q.wake)
  if request.database then
    Permissions.check(Channel.command(request.database), request.channel)
  end
end

-- True if a message becomes ready again although it has spent its queue's attempts: it has more of its own, or it repeats, and only the
-- consumer that claims it can compute its next occurrence.
local function goes_on(record, failed)
  return Record.is(record) and (Record.find_rule(record) or failed < (Record.own_attempts(record) or 0))
end

-- Returns the ids of messages that have spent their last attempt, as a list and as a set. Excludes ids without a message, which claims
-- drop. A message with fewer attempts than its queue becomes ready, and the consumer that claims it dead-letters it: to find such messages
-- here, every record would have to be read, which may be as large as its payload.
local function find_dead_lettered(q, plan, max_attempts)
  local ids, is_dead_lettered = {}, {}
  for i, id in ipairs(plan.expired.ids) do
    local failed = (tonumber(plan.failed[i] or 0) or 0) + 1
    if failed >= max_attempts then
      local record = call('HGET', q.messages, id)
      if record and not goes_on(record, failed) then
        ids[#ids + 1], is_dead_lettered[id] = id, true
      end
    end
  end
  return ids, is_dead_lettered
end

-- Plans a transfer without writing anything. Raises an error if a key has the wrong type, or if the user may not make the changes.
function Transfer.plan(q, request, now, micros)
  local plan = { next_due = Scores.lowest(q.delayed), next_lease_end = Scores.lowest(q.leases) }
  -- With groups, scores have fractions of a millisecond, so everything before the next millisecond is due.
  plan.due = Transfer.up_to_now(q.delayed, plan.next_due, q.groups and now + 4095 / 4096 or now, request.limit)
  plan.expired = expired_claims(q, Transfer.up_to_now(q.leases, plan.next_lease_end, now, request.limit), request.limit)
  plan.ready = call('LLEN', q.ready)
  if plan.ready + #plan.due + #plan.expired.ids > 0 then
    call('LLEN', q.wake)
    plan.is_quiet = call('GET', q.paused) or Rate.is_awaited(q, request.rate, micros)
      or request.active and Claims.room(q, request.active) + #plan.expired.ids <= 0
  end
  if #plan.expired.ids > 0 then
    Dead.check(q)
    plan.failed = call('HMGET', q.attempts, unpack(plan.expired.ids))
    plan.dead_lettered, plan.is_dead_lettered = find_dead_lettered(q, plan, request.max_attempts)
    plan.followers = Followers.plan(q, plan.dead_lettered, now, micros)
  end
  if q.groups and #plan.due + #plan.expired.ids > 0 then
    Groups.check(q)
    plan.due, plan.names = Record.read_members(plan.due)
    plan.texts = Groups.texts(q, plan.names)
    Groups.read(q, plan.expired.ids)
  end
  check_permissions(q, request, plan)
  if plan.followers and request.database then
    Channel.announce(request.database, request.channel, plan.next_due, plan.followers.earliest, now)
  end
  return plan
end

-- Takes back messages with expired leases. Returns how many are ready again, and how many of the oldest dead letters were dropped.
local function take_back(q, request, now, plan)
  local spent, again, letters, causes = {}, {}, {}, {}
  for i, id in ipairs(plan.expired.ids) do
    spent[#spent + 1], spent[#spent + 2] = id, (tonumber(plan.failed[i] or 0) or 0) + 1
    if not plan.is_dead_lettered[id] then
      again[#again + 1] = id
    else
      if q.groups then
        Groups.leave(q, { id })
      end
      if not (plan.followers and plan.followers.is_followed[id]) then
        letters[#letters + 1], letters[#letters + 2] = now, id
        causes[#causes + 1], causes[#causes + 2] = id, request.lease_error
      end
    end
  end

  call('HSET', q.attempts, unpack(spent))
  if #again > 0 then
    call('RPUSH', q.ready, unpack(again))
    if q.groups then
      Groups.return_ready(q, again)
    end
  end
  if #letters == 0 then
    return #again, 0
  end
  call('ZADD', q.dead, unpack(letters))
  call('HSET', q.errors, unpack(causes))
  return #again, Dead.drop_oldest(q, request.max_dead)
end

-- Carries out the plan. Returns moved, recovered, dead_lettered, dropped, more, ready, next_at (nil: none is known).
function Transfer.execute(q, request, now, plan)
  local limit, next_due, next_lease_end = request.limit, plan.next_due, plan.next_lease_end
  local report = {
    moved = #plan.due, recovered = 0, dead_lettered = plan.dead_lettered or {}, dropped = 0,
    more = #plan.due == limit or #plan.expired.ids == limit,
  }
  for token, left in pairs(plan.expired.left) do
    Claims.store(q, token, left)
  end
  if #plan.expired.ids > 0 then
    report.recovered, report.dropped = take_back(q, request, now, plan)
  end
  if next(plan.expired.left) ~= nil then
    next_lease_end = Scores.lowest(q.leases)
  end
  local due = plan.due
  if #due > 0 then
    -- Due messages have the lowest scores, so they come first by rank.
    call('ZREMRANGEBYRANK', q.delayed, '0', #due - 1)
    due = q.groups and Groups.join(q, due, plan.names, plan.texts) or due
    if #due > 0 then
      call('RPUSH', q.ready, unpack(due))
    end
    next_due = Scores.lowest(q.delayed)
  end
  -- Only now, because a follower could have come first in `delayed`, from which due messages are removed by rank.
  if plan.followers then
    Followers.store(q, plan.followers)
    next_due = Scores.lowest(q.delayed)
  end

  report.ready = plan.ready + #due + report.recovered + (q.groups and Groups.store(q) or 0)
  -- Nobody is woken during a pause, because resuming wakes a consumer; while one waits for the rate, because it will claim; or while no
  -- more messages may become active, because whoever ends a claim wakes a consumer.
  if report.ready > 0 and not plan.is_quiet then
    Wake.signal(q.wake)
  end
  report.next_at = Scores.lower(next_due, next_lease_end)
  return report
end

-- Announces the transfer if the request says where. Returns the reply of transfer.lua.
function Transfer.reply(request, report, micros)
  if request.database then
    local has_moved = report.moved + report.recovered + #report.dead_lettered > 0
    Channel.announce_transfer(request.announcer, has_moved, report.ready, report.next_at or -1, micros)
  end
  return {
    report.moved, report.recovered, report.dead_lettered, report.dropped, report.more and 1 or 0, report.ready, micros,
    report.next_at or -1,
  }
end
