#!lua flags=allow-oom
-- Ends claims, each with its outcome. Where all outcomes are 'ack', ack does it for less.
--
-- KEYS delayed messages claims leases attempts dead errors ready wake paused followers
--@with lanes --      lanes line held
-- ARGV channel: text, of announcements
--      database: text, of announcements: its number, or cluster, where they are sharded
--      max_dead: number, maximum number of dead letters
--@with lanes --      lanes: text, as in include/lanes.lua
--@with lanes --      messages: number, how many there are
--      ...: for each run of messages with the same claim and outcome: token of the claim, outcome ('ack', 'retry', 'defer',
--        'again', 'release', 'dead', 'next' or 'bury'), its detail (ack and release: empty; retry, defer and again: delay in ms, or
--        '@' and an instant; dead: error,
--        JSON in one line; then, for a new body, a line feed and that body), how many messages, their ids.
--@with lanes --        All this comes behind the groups of the messages, each empty if the caller does not know it.
--        Of a message that repeats, 'next' is handled, and its detail is '@' and the instant of the next occurrence; 'bury' is dead, and
--        its detail goes on with a space, its failed attempts, a space, the error, a line feed, and the id of the dead letter
-- Returns dropped (oldest dead letters), then the position (from 1, among all ids) of each message whose claim was no longer
--      held: nothing was changed for it.
--
-- A follower of a message that is handled or dead takes its place in the same step. Without one, a message that repeats comes again,
-- unless cancel has taken its rule meanwhile.
--
-- Atomic so that fence and outcome are one step: a consumer that lost its lease can change nothing. A crash right after leaves
-- the outcomes in force; a crash right before leaves the leases to expire by themselves.
--@include clock
--@include permission
--@include record
--@include lowest
--@include announce
--@include dead
--@include held
--@include claims
--@include give-back
--@include follower
--@with lanes --@include bell
--@with lanes --@include groups
--@with lanes --@include lanes
--@with lanes --@include lines
--@with lanes --@include read-lanes
--@include rule

-- The lists of the plan that a message joins, by its outcome.
local LISTS = {
  ack = { 'gone' },
  retry = { 'delayed', 'failed' },
  defer = { 'delayed' },
  again = { 'delayed', 'renewed' },
  release = { 'given_back' },
  dead = { 'dead', 'failed' },
  next = { 'repeating', 'renewed' },
  bury = { 'repeating', 'renewed', 'buried' },
}

-- The runs, and what their claims hold.
local function read_runs()
  local runs, tokens, at = {}, {}, FIRST
  --@with lanes at = FIRST + args.messages
  while at <= #ARGV do
    local first, last = at + 4, at + 3 + ARGV[at + 3]
    local detail, body = string.match(ARGV[at + 2], '^([^\n]*)\n(.*)$')
    tokens[#tokens + 1] = ARGV[at]
    runs[#runs + 1] = {
      token = ARGV[at], outcome = ARGV[at + 1], detail = detail or ARGV[at + 2], body = body, first = first, last = last,
    }
    at = last + 1
  end
  return runs, read_held(keys.claims, tokens)
end

-- Takes ids that follow each other, joined by line feeds, from a claim. Returns nil if the claim does not hold them in this order.
local function take_held(plan, token, ids)
  local before = plan.left[token] or plan.held[token]
  local left = before and without_ids(before, ids)
  plan.left[token] = left or plan.left[token]
  return left
end

local function plan_outcomes()
  local runs, held = read_runs()
  local plan = {
    reply = { 0 }, runs = {}, held = held, left = {},
    gone = {}, delayed = {}, failed = {}, renewed = {}, given_back = {}, dead = {}, repeating = {}, buried = {},
    scores = {}, records = {}, deaths = {}, errors = {}, spent = {},
  }
  --@with lanes plan.groups, plan.is_delayed = {}, {}
  local place = 0
  for _, run in ipairs(runs) do
    -- Most runs are everything that the claim holds, or a contiguous part of it.
    local all = take_held(plan, run.token, table.concat(ARGV, '\n', run.first, run.last))
    for at = run.first, run.last do
      place = place + 1
      if all or take_held(plan, run.token, ARGV[at]) then
        plan.runs[ARGV[at]] = run
        --@with lanes plan.groups[ARGV[at]] = ARGV[FIRST + place - 1]
        for _, list in ipairs(LISTS[run.outcome]) do
          table.insert(plan[list], ARGV[at])
        end
      else
        table.insert(plan.reply, place)
      end
    end
  end
  return plan
end

local function add_pair(list, one, other)
  list[#list + 1], list[#list + 2] = one, other
end

-- The record with the body of an outcome. A rule that was cancelled meanwhile does not come back.
local function with_outcome_body(record, body)
  local after = with_body(record, body)
  local first, last = find_rule(after)
  if first and not find_rule(record) then
    return string.sub(after, 1, first - 1) .. string.sub(after, last + 1)
  end
  return after
end

-- The record of a message that is delayed again.
local function record_after(run, record, due, now)
  local after = run.body and with_outcome_body(record, run.body) or record
  if run.outcome == 'again' then
    return pack_record(due, now, record_body(after))
  end
  return with_due(after, due)
end

local function plan_delayed(plan, now, now_micros)
  plan.earliest_before = lowest(keys.delayed)
  for _, id in ipairs(plan.delayed) do
    local run, record = plan.runs[id], redis.call('HGET', keys.messages, id)
    if is_record(record) then
      local due = due_instant(run.detail, now_micros)
      local after, member = record_after(run, record, due, now), id
      --@with lanes member, plan.is_delayed[id] = member_of(id, record_group(after)), true
      add_pair(plan.scores, due, member)
      add_pair(plan.records, id, after)
      plan.earliest = lower_of(plan.earliest, due)
    else
      table.insert(plan.gone, id)
    end
  end
end

local function plan_dead(plan, now)
  check_dead()
  for _, id in ipairs(plan.dead) do
    local run = plan.runs[id]
    local record = run.body and redis.call('HGET', keys.messages, id)
    add_pair(plan.deaths, now, id)
    add_pair(plan.errors, id, run.detail)
    if is_record(record) then
      add_pair(plan.records, id, with_outcome_body(record, run.body))
    end
  end
end

-- A dead letter of its own for each occurrence that is dead: a copy of the message without its rule. An id in use is that of the same
-- occurrence.
local function plan_buried(plan, now)
  check_dead()
  for _, id in ipairs(plan.buried) do
    local run, record = plan.runs[id], redis.call('HGET', keys.messages, id)
    local failed, error = string.match(run.detail, '^%S+ (%d+) (.*)$')
    if is_record(record) and redis.call('HEXISTS', keys.messages, run.body) == 0 then
      local _, last = find_rule(record)
      add_pair(plan.deaths, now, run.body)
      add_pair(plan.errors, run.body, error)
      add_pair(plan.records, run.body, last and with_body(record, string.sub(record, last + 1)) or record)
      add_pair(plan.spent, run.body, failed)
    end
  end
end

-- Messages that repeat come again. One that has lost its rule is gone.
local function plan_repeating(plan, now, now_micros)
  plan.earliest_before = lowest(keys.delayed)
  for _, id in ipairs(plan.repeating) do
    local record = redis.call('HGET', keys.messages, id)
    local first = is_record(record) and find_rule(record)
    if first then
      local due = due_instant(string.match(plan.runs[id].detail, '^@%d+'), now_micros)
      add_pair(plan.scores, due, id)
      add_pair(plan.records, id, pack_record(due, now, string.sub(record, first)))
      plan.earliest = lower_of(plan.earliest, due)
    else
      table.insert(plan.gone, id)
    end
  end
end

-- The followers of messages that are handled or dead take their places: there is no dead letter then.
local function plan_followers(plan, now, now_micros)
  local ended = { unpack(plan.gone) }
  for _, list in ipairs({ plan.dead, plan.repeating }) do
    for _, id in ipairs(list) do
      ended[#ended + 1] = id
    end
  end
  plan.release = plan_release(ended, now, now_micros)
  if plan.release then
    plan.earliest_before, plan.earliest = lowest(keys.delayed), plan.release.earliest
    for _, list in ipairs({ 'gone', 'dead', 'repeating' }) do
      plan[list] = without_released(plan[list], plan.release)
    end
  end
end

local function plan_spent(plan)
  for i, count in ipairs(redis.call('HMGET', keys.attempts, unpack(plan.failed))) do
    add_pair(plan.spent, plan.failed[i], (tonumber(count or 0) or 0) + 1)
  end
end

-- Everything that is written, but for claims, the line of ready messages, and the dead letters that are dropped. Records come first, so
-- that a log that is torn between two writes has lost none.
local function plan_writes(plan, attempts_kept)
  local keeps_attempts = attempts_kept + #plan.spent > 0
  plan.writes = {
    { 'HSET', keys.attempts, plan.spent },
    { 'HSET', keys.messages, plan.records },
    { 'HSET', keys.errors, plan.errors },
    { 'ZADD', keys.dead, plan.deaths },
    { 'ZADD', keys.delayed, plan.scores },
    { 'HDEL', keys.messages, plan.gone },
    { 'HDEL', keys.attempts, keeps_attempts and plan.gone or {} },
    { 'HDEL', keys.attempts, keeps_attempts and plan.renewed or {} },
  }
end

--@with lanes -- Somebody may have deleted their records, so their consumers name the groups.
--@with lanes local function open_settled(plan)
--@with lanes   local named, groups, others = {}, {}, {}
--@with lanes   for id, group in pairs(plan.groups) do
--@with lanes     if group == '' then
--@with lanes       others[#others + 1] = id
--@with lanes     else
--@with lanes       named[#named + 1], groups[#groups + 1] = id, group
--@with lanes     end
--@with lanes   end
--@with lanes   open_lanes(named, groups)
--@with lanes   read_lanes(others)
--@with lanes end

-- Reads only what the outcomes are about to change. Raises an error if a key has another type, or the user may not change it.
local function plan_settlement(plan, attempts_kept, followers_kept)
  local now, now_micros
  if #plan.delayed + #plan.dead + #plan.repeating + followers_kept > 0 then
    now, now_micros = read_clock()
  end
  if #plan.buried > 0 then
    plan_buried(plan, now)
  end
  if followers_kept > 0 then
    plan_followers(plan, now, now_micros)
  end
  if #plan.dead > 0 then
    plan_dead(plan, now)
  end
  if #plan.repeating > 0 then
    plan_repeating(plan, now, now_micros)
  end
  if #plan.delayed > 0 then
    plan_delayed(plan, now, now_micros)
  end
  if #plan.failed > 0 then
    plan_spent(plan)
  end
  if #plan.given_back > 0 then
    check_give_back()
  --@with lanes else
  --@with lanes   check_bell()
  end
  check_store_held()
  --@with lanes check_lines()
  --@with lanes open_settled(plan)
  plan_writes(plan, attempts_kept)
  for _, write in ipairs(plan.writes) do
    if #write[3] > 0 then
      check_permissions(write[1], write[2])
    end
  end
  announce(args.database, args.channel, plan.earliest_before, plan.earliest, now)
end

--@with lanes -- Of the messages whose claims have ended, all but those that are ready again give back their slots; retries may keep them.
--@with lanes local function leave_slots(plan)
--@with lanes   local held, left = {}, {}
--@with lanes   for id, run in pairs(plan.runs) do
--@with lanes     if plan.is_delayed[id] and run.outcome == 'retry' and is_retry_held() then
--@with lanes       held[#held + 1] = id
--@with lanes     elseif run.outcome ~= 'release' then
--@with lanes       left[#left + 1] = id
--@with lanes     end
--@with lanes   end
--@with lanes   hold_lanes(held)
--@with lanes   leave_lanes(left)
--@with lanes   return_ready(plan.given_back)
--@with lanes end

local function execute_settlement(plan)
  --@with lanes leave_slots(plan)
  for token, left in pairs(plan.left) do
    store_held(token, left)
  end
  for _, write in ipairs(plan.writes) do
    if #write[3] > 0 then
      redis.call(write[1], write[2], unpack(write[3]))
    end
  end
  if plan.release then
    release_followers(plan.release)
  end
  give_back(plan.given_back)
  if #plan.deaths > 0 then
    plan.reply[1] = drop_oldest_dead(args.max_dead)
  end
  --@with lanes ring_for(store_lanes())
end

local plan = plan_outcomes()
redis.call('ZCARD', keys.leases)
redis.call('HLEN', keys.messages)
local attempts_kept = redis.call('HLEN', keys.attempts)
local followers_kept = redis.call('HLEN', keys.followers)
if next(plan.left) ~= nil then
  plan_settlement(plan, attempts_kept, followers_kept)
  execute_settlement(plan)
end
return plan.reply
