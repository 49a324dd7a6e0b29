-- Stores messages as scan.lua has read them, with their failed attempts, followers and permits: as dead letters if they are dead, otherwise
-- as delayed messages, from which the next transfer makes those ready that are due.
--
-- KEYS delayed messages partitions ready claims leases attempts dead errors followers
--      | permits backlog held wake paused
-- ARGV deadline: text, instant in ms, 0: none
--      channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
--      max_messages: number, maximum number of messages in the partition, 0: no limit, -1: none is created
--      | groups: text, as in modules/groups.lua
--      ...: for each message: id; due time ('@' and an instant in ms), followed, after a space, by what to do if the id is in use: 'replace'
--        or 'reject' (default: 'keep'), which keeps a message with the same time of offer; body; time of the offer in ms, failed attempts,
--        score ('-': the due time), 1 if it keeps a permit, otherwise 0, time of death in ms (0: it is not dead) and error (JSON), with
--        spaces between them; follower as in modules/followers.lua (empty: none)
-- Returns what offer.lua returns.
--
-- Atomic because an id must be looked up and taken in one step, and a message must not be seen without its attempts. A crash right
-- afterwards leaves the messages stored; a lost announcement costs a check interval. If memory is short, the server refuses this function
-- before it starts.

local add_pair = Writes.add_pair

-- Makes offers with 'reject' keep a message with the same id and the same time of offer. It is the same message: a scan may return one twice,
-- and an earlier call may have stored it.
local function keep_same(offers, args)
  local times = {}
  for i, id in ipairs(offers.ids) do
    local offered = tonumber(match(args[offers.at[i] + 3], '^%d+'))
    local time = times[id] or Record.is(offers.stored[i]) and Record.offered(offers.stored[i]) or offered
    if offers.on_duplicate[i] == 'reject' and time == offered then
      offers.on_duplicate[i] = 'keep'
    end
    times[id] = time
  end
end

-- Plans what to store for the message that is `at` this place of the arguments.
local function plan_message(q, plan, args, at, due)
  local id, body, past, follower = args[at], args[at + 2], args[at + 3], args[at + 4]
  local offered, failed, score, is_held, died_at, cause = match(past, '^(%d+) (%d+) (%S+) ([01]) (%d+) ?(.*)$')
  add_pair(plan.records, id, Record.pack(due, tonumber(offered), body))
  if failed ~= '0' then
    add_pair(plan.spent, id, failed)
  end
  if follower ~= '' then
    add_pair(plan.followers, id, follower)
  end
  if died_at ~= '0' then
    add_pair(plan.deaths, died_at, id)
    add_pair(plan.causes, id, cause)
    return
  end
  local group = q.groups and Record.group_at(body, 1) or ''
  add_pair(plan.scores, score == '-' and format('%d', due) or score, Record.member(id, group))
  plan.earliest = Scores.lower(plan.earliest, due)
  if q.groups and is_held == '1' and group ~= '' then
    plan.held[#plan.held + 1], plan.held_by[#plan.held_by + 1] = id, group
  end
end

local function run(keys, args)
  local q = {
    delayed = keys[1], messages = keys[2], partitions = keys[3], ready = keys[4], claims = keys[5], leases = keys[6],
    attempts = keys[7], dead = keys[8], errors = keys[9], followers = keys[10], permits = keys[11], backlog = keys[12], held = keys[13],
    wake = keys[14], paused = keys[15],
  }
  local request, offers, now, micros = Offering.begin(q, args, 5)
  keep_same(offers, args)
  local decided = Offers.decide(offers, request.room, micros, { due_in_use = Record.due })
  local plan = { records = {}, spent = {}, followers = {}, deaths = {}, causes = {}, scores = {}, held = {}, held_by = {} }
  for place, i in ipairs(decided.sources) do
    plan_message(q, plan, args, offers.at[i], decided.scores[2 * place - 1])
  end
  local writes = {
    { 'HSET', q.attempts, plan.spent },
    { 'HSET', q.messages, plan.records },
    { 'HSET', q.followers, plan.followers },
    { 'HSET', q.errors, plan.causes },
    { 'ZADD', q.dead, plan.deaths },
    { 'ZADD', q.delayed, plan.scores },
  }
  if #plan.records > 0 then
    for _, key in ipairs({ q.attempts, q.errors, q.followers }) do call('HLEN', key) end
    call('ZCARD', q.dead)
    Offering.check(q, decided.replaced)
    Writes.check(writes)
    Channel.announce(request.database, request.channel, request.earliest_before, plan.earliest, now)
  end

  for _, id in ipairs(decided.replaced) do
    TakeOut.run(q, id)
  end
  Writes.run(writes)
  if q.groups and #plan.records > 0 then
    Groups.open(q, plan.held, plan.held_by)
    Groups.hold(q, plan.held)
    Groups.change(q, plan.held, 1, 0)
    Wake.signal_ready(q, Groups.store(q))
  end
  return decided.receipts
end

register('restore', {}, run)
