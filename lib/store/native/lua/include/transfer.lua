-- Moves what is due from delayed to ready, and takes back active messages whose lease has expired: first a plan, which only
-- reads, then its execution. transfer.lua describes the arguments and the reply.
--@include permission
--@include lowest
--@include ring
--@include dead
--@include held
--@include claims
--@include announce
--@include follower
--@with lanes --@include groups
--@with lanes --@include lanes
--@with lanes --@include lines
--@with lanes --@include read-lanes
--@include record
--@include rule

-- args.teller: '<database, as in offer> <scheduler> <when it moved something before, us, -1: never> <channel>'; empty: tell nobody.
local teller = {}
teller.database, teller.scheduler, teller.moved_before, teller.channel =
  string.match(args.teller, '^(%S+) (%S+) (%S+) (.*)$')

-- Raises an error before the first write if the user may not tell.
local function check_tell()
  if teller.database then
    check_permissions(command_of(teller.database), teller.channel)
  end
end

-- Tells those who watch the queue of a transfer, so that they need not look themselves: "transfer <scheduler> <when it last moved
-- something, us> <ready messages> <now, us> <next instant in ms at which there is work> <database>"; -1: never, or none is known.
local function tell(report, now_micros)
  if teller.database then
    local has_moved = report.moved + report.recovered + #report.buried > 0
    local moved_at = has_moved and string.format('%.0f', now_micros) or teller.moved_before
    publish(teller.database, teller.channel, string.format('transfer %s %s %d %.0f %.0f %s', teller.scheduler, moved_at,
      report.ready, now_micros, report.next_at or -1, word_of(teller.database)))
  end
end

-- Whether a consumer is going to claim once the queue's rate allows more, which takes a minute at most (rate.lua): to wake others is
-- useless until then. It may be 0.1 s late.
local function is_rate_awaited(now_micros)
  local key = keys.rate
  --@with lanes key = keys.awaited
  local text = args.rate ~= '' and redis.call('GET', key)
  local awaited = text and #text >= 7 and struct.unpack('>I7', text) or 0
  return now_micros < awaited + 100000 and awaited < now_micros + 60000000
end

-- The first members of a sorted set whose score is in the past, at most `most` of them. `first` is the lowest score: if that is
-- in the future, nothing needs to be read.
local function up_to_now(key, first, now, most)
  if first == nil or first > now then
    return {}
  end
  return redis.call('ZRANGE', key, '-inf', now, 'BYSCORE', 'LIMIT', 0, most)
end

-- The ids held by claims whose lease has expired, at most `limit` of them, and what is left of these claims, by token.
local function expired_claims(tokens)
  local expired, limit = { ids = {}, left = {} }, args.limit
  for _, token in ipairs(tokens) do
    local room = limit - #expired.ids
    if room == 0 then
      break
    end
    local ids = ids_held(redis.call('HGET', keys.claims, token) or '')
    for i = 1, math.min(#ids, room) do
      expired.ids[#expired.ids + 1] = ids[i]
    end
    expired.left[token] = #ids > room and with_ids('\n', ids, room + 1) or '\n'
  end
  return expired
end

-- Raises an error before the first write if the user may not change what the plan changes.
local function check_transfer_permissions(plan)
  if #plan.due > 0 then
    check_permissions('ZREMRANGEBYRANK', keys.delayed, 'RPUSH', keys.ready)
  end
  if #plan.expired.ids > 0 then
    check_permissions('HSET', keys.attempts, 'RPUSH', keys.ready, 'ZADD', keys.dead, 'HSET', keys.errors)
  end
  if next(plan.expired.left) ~= nil then
    check_store_held()
  end
  check_permissions('RPUSH', keys.wake)
  check_tell()
end

-- The ids whose last attempt ends with their lease, as a list and as a set. Those of messages that repeat are not among them: such a message is ready again, and
-- whoever claims it ends the occurrence, because only a calendar knows the next one. Nor are ids without a message, which a claim drops.
local function buried_by(plan)
  local ids, is_buried = {}, {}
  for i, id in ipairs(plan.expired.ids) do
    if (tonumber(plan.failed[i] or 0) or 0) + 1 >= args.max_attempts then
      local record = redis.call('HGET', keys.messages, id)
      if record and not (is_record(record) and find_rule(record)) then
        ids[#ids + 1], is_buried[id] = id, true
      end
    end
  end
  return ids, is_buried
end

-- Raises an error if a key has another type.
local function plan_transfer(now, now_micros)
  local plan = { next_due = lowest(keys.delayed), next_lease_end = lowest(keys.leases) }
  plan.due = up_to_now(keys.delayed, plan.next_due, now, args.limit)
  --@with lanes plan.due = up_to_now(keys.delayed, plan.next_due, now + 4095 / 4096, args.limit)
  plan.expired = expired_claims(up_to_now(keys.leases, plan.next_lease_end, now, args.limit))
  plan.ready = redis.call('LLEN', keys.ready)
  if plan.ready + #plan.due + #plan.expired.ids > 0 then
    redis.call('LLEN', keys.wake)
    plan.is_quiet = redis.call('GET', keys.paused) or is_rate_awaited(now_micros)
  end
  if #plan.expired.ids > 0 then
    check_dead()
    plan.failed = redis.call('HMGET', keys.attempts, unpack(plan.expired.ids))
    plan.buried, plan.is_buried = buried_by(plan)
    plan.release = plan_release(plan.buried, now, now_micros)
  end
  --@with lanes if #plan.due + #plan.expired.ids > 0 then
  --@with lanes   check_lines()
  --@with lanes   plan.due, plan.groups = read_members(plan.due)
  --@with lanes   plan.texts = read_texts(plan.groups)
  --@with lanes   read_lanes(plan.expired.ids)
  --@with lanes end
  check_transfer_permissions(plan)
  if plan.release and teller.database then
    announce(teller.database, teller.channel, plan.next_due, plan.release.earliest, now)
  end
  return plan
end

-- Returns recovered (ready again), ids of the buried (dead now), dropped (oldest dead letters).
local function take_back(now, plan)
  local spent, again, letters, causes = {}, {}, {}, {}
  for i, id in ipairs(plan.expired.ids) do
    spent[#spent + 1], spent[#spent + 2] = id, (tonumber(plan.failed[i] or 0) or 0) + 1
    if not plan.is_buried[id] then
      again[#again + 1] = id
    else
      --@with lanes leave_lanes({ id })
      if not (plan.release and plan.release.released[id]) then
        letters[#letters + 1], letters[#letters + 2] = now, id
        causes[#causes + 1], causes[#causes + 2] = id, args.lease_error
      end
    end
  end

  local dropped = 0
  redis.call('HSET', keys.attempts, unpack(spent))
  if #again > 0 then
    redis.call('RPUSH', keys.ready, unpack(again))
    --@with lanes return_ready(again)
  end
  if #letters > 0 then
    redis.call('ZADD', keys.dead, unpack(letters))
    redis.call('HSET', keys.errors, unpack(causes))
    dropped = drop_oldest_dead(args.max_dead)
  end
  return #again, plan.buried, dropped
end

-- Returns moved, recovered, buried, dropped, more, ready, next_at (nil: none is known).
local function execute_transfer(now, plan)
  local report = {
    moved = #plan.due, recovered = 0, buried = {}, dropped = 0,
    more = #plan.due == args.limit or #plan.expired.ids == args.limit,
  }
  local next_due, next_lease_end = plan.next_due, plan.next_lease_end
  for token, left in pairs(plan.expired.left) do
    store_held(token, left)
  end
  if #plan.expired.ids > 0 then
    report.recovered, report.buried, report.dropped = take_back(now, plan)
  end
  if next(plan.expired.left) ~= nil then
    next_lease_end = lowest(keys.leases)
  end
  if #plan.due > 0 then
    -- They have the lowest scores, so they are the first by rank.
    redis.call('ZREMRANGEBYRANK', keys.delayed, 0, #plan.due - 1)
    --@with lanes plan.due = join_lines(plan.due, plan.groups, plan.texts)
    --@with lanes if #plan.due > 0 then
    redis.call('RPUSH', keys.ready, unpack(plan.due))
    --@with lanes end
    next_due = lowest(keys.delayed)
  end
  -- After what is due, which is removed by its rank.
  if plan.release then
    release_followers(plan.release)
    next_due = lowest(keys.delayed)
  end

  report.ready = plan.ready + #plan.due + report.recovered
  --@with lanes report.ready = report.ready + store_lanes()
  -- While the queue is paused nobody is woken; resume rings for these messages.
  if report.ready > 0 and not plan.is_quiet then
    ring(keys.wake)
  end
  report.next_at = lower_of(next_due, next_lease_end)
  return report
end

-- The reply; those who watch are told.
local function transfer_reply(report, now_micros)
  tell(report, now_micros)
  return {
    report.moved, report.recovered, report.buried, report.dropped, report.more and 1 or 0, report.ready, now_micros,
    report.next_at or -1,
  }
end
