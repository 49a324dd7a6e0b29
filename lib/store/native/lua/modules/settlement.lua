-- Settles messages with any outcome: first makes a plan, which only reads, then carries it out. settle.lua describes arguments and reply.

-- For each outcome, the lists of the plan to which its messages are added.
local LISTS = {
  ack = { 'gone' },
  retry = { 'delayed', 'failed' },
  defer = { 'delayed' },
  again = { 'delayed', 'renewed' },
  release = { 'released' },
  dead = { 'dead', 'failed' },
  spent = { 'dead' },
  next = { 'repeating', 'renewed' },
  deadnext = { 'repeating', 'renewed', 'dead_lettered' },
}

-- Reads the runs of messages that the arguments describe. Returns the ids in their order, and the run of each. A line feed begins a body,
-- which may be empty.
local function read_runs(args, at)
  local ids, runs, place = {}, {}, 0
  while args[at] do
    local count, outcome, detail, line_feed, body = match(args[at + 1], '^(%d+) ?(%l*) ?([^\n]*)(\n?)(.*)$')
    local run = { token = args[at], outcome = outcome == '' and 'ack' or outcome, detail = detail, body = line_feed ~= '' and body }
    for i = at + 2, at + 1 + count do
      place = place + 1
      ids[place], runs[place] = args[i], run
    end
    at = at + 2 + count
  end
  return ids, runs
end

-- Removes the ids from position `first` to `last` from a claim's string. Returns what is left, nil if the claim holds none of them; and
-- those that it holds, as a set, nil if it holds them all.
local function take_held(held, ids, first, last)
  -- Usually, the claim holds them next to each other, in this order.
  local left = Ids.without(held, concat(ids, '\n', first, last))
  if left then
    return left, nil
  end
  local asked, taken, rest = {}, {}, {}
  for place = first, last do
    asked[ids[place]] = true
  end
  for _, id in ipairs(Ids.of(held)) do
    if asked[id] then
      taken[id] = true
    else
      rest[#rest + 1] = id
    end
  end
  return next(taken) ~= nil and (rest[1] and Ids.text(rest, 1) or '\n') or nil, taken
end

function Settlement.read(q, args, at, names)
  local ids, runs = read_runs(args, at)
  local plan = {
    reply = { 0 }, runs = {}, left = {}, names = {}, is_delayed = {},
    gone = {}, delayed = {}, failed = {}, renewed = {}, released = {}, dead = {}, repeating = {}, dead_lettered = {},
    scores = {}, records = {}, deaths = {}, errors = {}, spent = {},
  }
  local first = 1
  while runs[first] do
    local token, last = runs[first].token, first
    while runs[last + 1] and runs[last + 1].token == token do
      last = last + 1
    end
    local left, taken = take_held(plan.left[token] or call('HGET', q.claims, token) or '\n', ids, first, last)
    plan.left[token] = left or plan.left[token]
    for place = first, last do
      local id, run = ids[place], runs[place]
      if not taken or taken[id] then
        plan.runs[id], plan.names[id] = run, names and names[place]
        for _, name in ipairs(LISTS[run.outcome]) do
          local list = plan[name]
          list[#list + 1] = id
        end
        if taken then
          taken[id] = nil
        end
      else
        plan.reply[#plan.reply + 1] = place
      end
    end
    first = last + 1
  end
  return plan
end

local add_pair = Writes.add_pair

-- Returns the record with the body from an outcome. If the message's rule was cancelled after the claim, the new body loses the rule, too.
-- If it was paused or resumed, the new body adopts that.
local function with_outcome_body(record, body)
  local after = Record.with_body(record, body)
  local first, last = Record.find_rule(after)
  if not first then
    return after
  end
  local progress = Record.progress_at(record, Record.wrapping_end(record) + 1)
  if progress then
    return Record.with_progress(after, first, progress)
  end
  return sub(after, 1, first - 1) .. sub(after, last + 1)
end

local function plan_delayed(q, plan, now, micros)
  plan.earliest_before = Scores.lowest(q.delayed)
  for i, record in ipairs(call('HMGET', q.messages, unpack(plan.delayed))) do
    local id = plan.delayed[i]
    local run = plan.runs[id]
    if Record.is(record) then
      local due = Clock.due(run.detail, micros)
      local after = run.body and with_outcome_body(record, run.body) or record
      after = run.outcome == 'again' and Record.pack(due, now, Record.body(after)) or Record.with_due(after, due)
      plan.is_delayed[id] = true
      add_pair(plan.scores, format('%d', due), q.groups and Record.member(id, Record.group(after)) or id)
      add_pair(plan.records, id, after)
      plan.earliest = Scores.lower(plan.earliest, due)
    else
      plan.gone[#plan.gone + 1] = id
    end
  end
end

local function plan_dead(q, plan, now)
  Dead.check(q)
  for _, id in ipairs(plan.dead) do
    local run = plan.runs[id]
    local record = run.body and call('HGET', q.messages, id)
    add_pair(plan.deaths, now, id)
    add_pair(plan.errors, id, run.detail)
    if Record.is(record) then
      add_pair(plan.records, id, with_outcome_body(record, run.body))
    end
  end
end

-- Plans a dead letter for each dead occurrence: a copy of the message without its rule. If the letter's id is in use, it already exists.
local function plan_dead_lettered(q, plan, now)
  Dead.check(q)
  for _, id in ipairs(plan.dead_lettered) do
    local run, record = plan.runs[id], call('HGET', q.messages, id)
    local failed, cause = match(run.detail, '^%S+ (%d+) (.*)$')
    if Record.is(record) and call('HEXISTS', q.messages, run.body) == 0 then
      local _, last = Record.find_rule(record)
      add_pair(plan.deaths, now, run.body)
      add_pair(plan.errors, run.body, cause)
      add_pair(plan.records, run.body, Record.without_rule(record, last))
      add_pair(plan.spent, run.body, failed)
    end
  end
end

-- Returns the due time and the body of the next occurrence of the message whose rule begins at byte `first` of a record. `detail`: that of
-- the outcome. A paused message stays paused.
local function next_occurrence(record, first, detail, micros)
  local body, when, count = sub(record, first), match(detail, '^(@%d+):?(%d*)')
  local is_paused = Record.is_paused(body, 1)
  if count ~= '' then
    body = Record.with_progress(body, 1, Record.progress(count, is_paused))
  end
  return is_paused and Record.PAUSED_UNTIL or Clock.due(when, micros), body
end

-- Plans the next occurrences of repeating messages. A message that has lost its rule, or has no other time, is removed.
local function plan_repeating(q, plan, now, micros)
  plan.earliest_before = Scores.lowest(q.delayed)
  for _, id in ipairs(plan.repeating) do
    local record, detail = call('HGET', q.messages, id), plan.runs[id].detail
    local first = Record.is(record) and sub(detail, 1, 1) == '@' and Record.find_rule(record)
    if first then
      local due, body = next_occurrence(record, first, detail, micros)
      add_pair(plan.scores, due, id)
      add_pair(plan.records, id, Record.pack(due, now, body))
      plan.earliest = Scores.lower(plan.earliest, due)
    else
      plan.gone[#plan.gone + 1] = id
    end
  end
end

-- Lets followers take the places of messages that are handled or dead. A message with the outcome 'dead' then leaves no dead letter.
local function plan_followers(q, plan, now, micros)
  local ended = {}
  for _, list in ipairs({ plan.gone, plan.dead, plan.repeating }) do
    for _, id in ipairs(list) do
      ended[#ended + 1] = id
    end
  end
  plan.followers = Followers.plan(q, ended, now, micros)
  if plan.followers then
    plan.earliest_before, plan.earliest = Scores.lowest(q.delayed), plan.followers.earliest
    for _, list in ipairs({ 'gone', 'dead', 'repeating' }) do
      plan[list] = Followers.without_followed(plan[list], plan.followers)
    end
  end
end

-- Plans the writes except those to claims and to the list of ready ids, and except the removal of the oldest dead letters. Records come
-- before the states, so if an append-only file ends between two of these writes, each state has its records.
local function plan_writes(q, plan, attempts_kept)
  local keeps_attempts = attempts_kept + #plan.spent > 0
  plan.writes = {
    { 'HSET', q.attempts, plan.spent },
    { 'HSET', q.messages, plan.records },
    { 'HSET', q.errors, plan.errors },
    { 'ZADD', q.dead, plan.deaths },
    { 'ZADD', q.delayed, plan.scores },
    { 'HDEL', q.messages, plan.gone },
    { 'HDEL', q.attempts, keeps_attempts and plan.gone or {} },
    { 'HDEL', q.attempts, keeps_attempts and plan.renewed or {} },
  }
end

-- Opens the groups of the messages. Uses the names that the consumer has sent, because somebody may have deleted the records.
local function open_groups(q, plan)
  local named, names, others = {}, {}, {}
  for id, name in pairs(plan.names) do
    if name == '' then
      others[#others + 1] = id
    else
      named[#named + 1], names[#names + 1] = id, name
    end
  end
  Groups.open(q, named, names)
  Groups.read(q, others)
end

-- Completes the plan, reading only what the outcomes need. Raises an error if a key has the wrong type, or the user may not change it.
function Settlement.plan(q, plan, attempts_kept, followers_kept)
  local now, micros
  if #plan.delayed + #plan.dead + #plan.repeating + followers_kept > 0 then
    now, micros = Clock.read()
  end
  if #plan.dead_lettered > 0 then
    plan_dead_lettered(q, plan, now)
  end
  if followers_kept > 0 then
    plan_followers(q, plan, now, micros)
  end
  if #plan.dead > 0 then
    plan_dead(q, plan, now)
  end
  if #plan.repeating > 0 then
    plan_repeating(q, plan, now, micros)
  end
  if #plan.delayed > 0 then
    plan_delayed(q, plan, now, micros)
  end
  for i, count in ipairs(#plan.failed > 0 and call('HMGET', q.attempts, unpack(plan.failed)) or {}) do
    add_pair(plan.spent, plan.failed[i], count and (tonumber(count) or 0) + 1 or '1')
  end
  if #plan.released > 0 then
    Wake.check_release(q)
  elseif q.groups then
    Wake.check(q)
  end
  Claims.check_store(q)
  if q.groups then
    Groups.check(q)
    open_groups(q, plan)
  end
  plan_writes(q, plan, attempts_kept)
  Writes.check(plan.writes)
  return now
end

-- Frees the permits of settled messages. Released messages keep theirs, because they are ready again; with 'hold', retries keep theirs.
local function leave_permits(q, plan)
  local held, left = {}, {}
  for id, run in pairs(plan.runs) do
    if plan.is_delayed[id] and run.outcome == 'retry' and q.groups.are_retries_held then
      held[#held + 1] = id
    elseif run.outcome ~= 'release' then
      left[#left + 1] = id
    end
  end
  Groups.hold(q, held)
  Groups.leave(q, left)
  Groups.return_ready(q, plan.released)
end

function Settlement.execute(q, plan, max_dead)
  if q.groups then
    leave_permits(q, plan)
  end
  for token, left in pairs(plan.left) do
    Claims.store(q, token, left)
  end
  Writes.run(plan.writes)
  if plan.followers then
    Followers.store(q, plan.followers)
  end
  if #plan.released > 0 then
    Wake.release(q, plan.released)
  end
  if #plan.deaths > 0 then
    plan.reply[1] = Dead.drop_oldest(q, max_dead)
  end
  if q.groups then
    Wake.signal_ready(q, Groups.store(q))
  end
end
