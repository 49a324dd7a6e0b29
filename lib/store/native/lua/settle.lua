#!lua flags=allow-oom
-- Ends claims, each with its outcome. Where all outcomes are 'ack', ack does it for less.
--
-- KEYS delayed messages claims leases attempts dead errors ready wake paused
-- ARGV channel: text, of announcements
--      publish: text, the command for them, PUBLISH or in a cluster SPUBLISH
--      max_dead: number, maximum number of dead letters
--      ...: for each run of messages with the same claim and outcome: token of the claim, outcome ('ack', 'retry', 'defer',
--        'again', 'release' or 'dead'), its detail (ack and release: empty; retry, defer and again: delay in ms, or
--        '@' and an instant; dead: error,
--        JSON in one line; then, for a new body, a line feed and that body), how many messages, their ids
-- Returns dropped (oldest dead letters), then the position (from 1, among all ids) of each message whose claim was no longer
--      held: nothing was changed for it.
--
-- Atomic so that fence and outcome are one step: a consumer that lost its lease can change nothing. A crash right after leaves
-- the outcomes in force; a crash right before leaves the leases to expire by themselves.
--@include clock
--@include permission
--@include record
--@include lowest
--@include announce
--@include dead
--@include drop-dead
--@include held
--@include claims
--@include give-back

local runs, tokens = {}, {}
local at = FIRST
while at <= #ARGV do
  local first, count = at + 4, tonumber(ARGV[at + 3])
  tokens[#tokens + 1] = ARGV[at]
  runs[#runs + 1] = { token = ARGV[at], outcome = ARGV[at + 1], detail = ARGV[at + 2], first = first, last = first + count - 1 }
  at = first + count
end
local held = read_held(keys.claims, tokens)
redis.call('ZCARD', keys.leases)
redis.call('HLEN', keys.messages)
local attempts_kept = redis.call('HLEN', keys.attempts)

local reply = { 0 }
local gone, failures, released, renewed = {}, {}, {}, {}
-- Pairs of an id and when it is due again, and of an id and its error.
local later, letters = {}, {}
-- By id: the new body, if there is one; whether the outcome is 'again'.
local bodies, is_renewed = {}, {}
local ended = {}
local now, now_micros

-- Removes consecutive ids, joined by line feeds, from a claim. Returns nil if the claim does not hold them in this order.
local function release(token, ids)
  local left = held[token] and without_ids(held[token], ids)
  if left then
    held[token], ended[token] = left, true
  end
  return left
end

-- Returns the detail without a new body, which it keeps.
local function take_body(id, detail)
  local what, body = string.match(detail, '^([^\n]*)\n(.*)$')
  bodies[id] = body
  return what or detail
end

local function end_with(id, outcome, detail)
  if outcome == 'ack' then
    gone[#gone + 1] = id
  elseif outcome == 'release' then
    released[#released + 1] = id
  elseif outcome == 'dead' then
    letters[#letters + 1], letters[#letters + 2] = id, take_body(id, detail)
  else
    later[#later + 1], later[#later + 2] = id, take_body(id, detail)
  end
  if outcome == 'again' then
    renewed[#renewed + 1], is_renewed[id] = id, true
  end
  if outcome == 'retry' or outcome == 'dead' then
    failures[#failures + 1] = id
  end
end

-- The new record of a message that is delayed again.
local function record_due_at(id, record, due)
  if is_renewed[id] then
    return pack_record(due, now, bodies[id] or record_body(record))
  end
  return with_due(bodies[id] and with_body(record, bodies[id]) or record, due)
end

local place = 0
for _, run in ipairs(runs) do
  -- Most runs are everything that the claim holds, or a contiguous part of it.
  local all = release(run.token, table.concat(ARGV, '\n', run.first, run.last))
  for i = run.first, run.last do
    place = place + 1
    if all or release(run.token, ARGV[i]) then
      end_with(ARGV[i], run.outcome, run.detail)
    else
      reply[#reply + 1] = place
    end
  end
end
if next(ended) == nil then
  return reply
end

-- Reads only what these outcomes are about to change: most batches contain nothing but 'ack'.
local scores, records, deaths, spent = {}, {}, {}, {}
local earliest_before, earliest
if #later + #letters > 0 then
  now, now_micros = read_clock()
end
if #letters > 0 then
  check_dead()
  for at = 1, #letters, 2 do
    local id = letters[at]
    deaths[#deaths + 1], deaths[#deaths + 2] = now, id
    local record = bodies[id] and redis.call('HGET', keys.messages, id)
    if is_record(record) then
      records[#records + 1], records[#records + 2] = id, with_body(record, bodies[id])
    end
  end
end
if #later > 0 then
  earliest_before = lowest(keys.delayed)
  for at = 1, #later, 2 do
    local id, when = later[at], later[at + 1]
    local record = redis.call('HGET', keys.messages, id)
    if is_record(record) then
      local due = due_instant(when, now_micros)
      scores[#scores + 1], scores[#scores + 2] = due, id
      records[#records + 1], records[#records + 2] = id, record_due_at(id, record, due)
      if not earliest or due < earliest then
        earliest = due
      end
    else
      gone[#gone + 1] = id
    end
  end
end
if #failures > 0 then
  local failed = redis.call('HMGET', keys.attempts, unpack(failures))
  for i, id in ipairs(failures) do
    spent[#spent + 1], spent[#spent + 2] = id, (tonumber(failed[i] or 0) or 0) + 1
  end
end
if #released > 0 then
  check_give_back()
end
check_store_held()
if #spent > 0 then
  check_permissions('HSET', keys.attempts)
end
if #gone > 0 then
  check_permissions('HDEL', keys.messages, 'HDEL', keys.attempts)
end
if #renewed > 0 and attempts_kept > 0 then
  check_permissions('HDEL', keys.attempts)
end
if #scores > 0 then
  check_permissions('ZADD', keys.delayed)
end
if #records > 0 then
  check_permissions('HSET', keys.messages)
end
if #letters > 0 then
  check_permissions('ZADD', keys.dead, 'HSET', keys.errors)
end
announce(args.publish, args.channel, earliest_before, earliest, now)

for token in pairs(ended) do
  store_held(token, held[token])
end
if #spent > 0 then
  redis.call('HSET', keys.attempts, unpack(spent))
end
if #gone > 0 then
  redis.call('HDEL', keys.messages, unpack(gone))
  if attempts_kept + #spent > 0 then
    redis.call('HDEL', keys.attempts, unpack(gone))
  end
end
if #renewed > 0 and attempts_kept > 0 then
  redis.call('HDEL', keys.attempts, unpack(renewed))
end
if #scores > 0 then
  redis.call('ZADD', keys.delayed, unpack(scores))
end
if #records > 0 then
  redis.call('HSET', keys.messages, unpack(records))
end
give_back(released)
if #letters > 0 then
  redis.call('ZADD', keys.dead, unpack(deaths))
  redis.call('HSET', keys.errors, unpack(letters))
  reply[1] = drop_oldest_dead()
end
return reply
