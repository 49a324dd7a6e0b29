-- Reads all messages, in steps, with everything that restore.lua needs to store them elsewhere.
--
-- KEYS messages delayed dead claims attempts errors followers
--      | permits backlog held
-- ARGV cursor: text, from the previous call, empty: the first step
--      size: number, roughly how many messages to read; a small hash is read as a whole
-- Returns the next cursor (empty: this was the last step), then for each message: id, state, record, failed attempts, score among messages
--      with equal due times (empty: the due time), 1 if it keeps a permit while it is delayed, otherwise 0, time of death in ms (0: it is not
--      dead), error (JSON; null unless dead), follower as in modules/followers.lua (null: none).
--
-- A message that exists throughout all steps is returned at least once, whatever becomes of it, because HSCAN guarantees that. A step ends
-- early once it has read 1 MiB of records, or has looked through long backlogs.
--
-- A message that waits in its group's backlog has no score. It gets the one that it would have had if the whole backlog had been offered
-- for the same millisecond, so messages with equal due times stay in order, as far as scores can tell them apart (modules/scores.lua).
--
-- Atomic so that a message is read in one state, together with its follower. Writes nothing.

-- How many places of a backlog to look through, as many as scores can tell apart, and how many of all backlogs in one step.
local MAX_PLACES, MAX_LOOKED_AT = 3332, 10000

-- Returns the score of a ready message: nothing if it is in the list of ready ids, which comes before the backlog.
local function score_in_backlog(q, search, id, record)
  local group = Record.group(record)
  local backlog = search.backlogs[group]
  if not backlog then
    local ids = call('LRANGE', q.backlog .. group, 0, MAX_PLACES - 1)
    backlog = { places = Ids.set(ids), is_long = #ids == MAX_PLACES }
    search.backlogs[group], search.looked_at = backlog, search.looked_at + #ids
  end
  local place = backlog.places[id] or backlog.is_long and MAX_PLACES
  return place and format('%d.%04d', Record.due(record), place * 3) or ''
end

local function append_message(q, search, reply, id, record)
  local state, score, is_held, died_at, cause = 'ready', '', 0, 0, false
  local delayed = call('ZSCORE', q.delayed, Record.member_of(id, record, q.permits))
  local died = not delayed and call('ZSCORE', q.dead, id)
  if delayed then
    state = 'delayed'
    -- The score of a message that waits for its group's rate says when that allows more: elsewhere, the message is due at once.
    if q.permits and find(delayed, '.', 1, true) and not Groups.waits_for_rate(record, delayed) then
      score = delayed
    end
    is_held = q.permits and call('HGET', q.held, id) and 1 or 0
  elseif died then
    state, died_at, cause = 'dead', tonumber(died), call('HMGET', q.errors, id)[1]
  else
    search.holders = search.holders or Claims.holders(q.claims)
    if search.holders[id] then
      state = 'active'
    elseif q.permits then
      score = score_in_backlog(q, search, id, record)
    end
  end
  local last = #reply
  reply[last + 1], reply[last + 2], reply[last + 3] = id, state, record
  reply[last + 4], reply[last + 5] = tonumber(call('HGET', q.attempts, id) or 0) or 0, score
  reply[last + 6], reply[last + 7], reply[last + 8] = is_held, died_at, cause
  reply[last + 9] = search.has_followers and call('HMGET', q.followers, id)[1]
end

local function run(keys, args)
  local q = {
    messages = keys[1], delayed = keys[2], dead = keys[3], claims = keys[4], attempts = keys[5], errors = keys[6], followers = keys[7],
    permits = keys[8], backlog = keys[9], held = keys[10],
  }
  local cursor, size = args[1], tonumber(args[2])
  local search = { backlogs = {}, looked_at = 0, has_followers = call('HLEN', q.followers) > 0 }
  local reply = { '' }
  reply[1] = Pages.scan(q.messages, cursor, size, function(part)
    for at = 1, #part, 2 do
      append_message(q, search, reply, part[at], part[at + 1])
    end
    return search.looked_at >= MAX_LOOKED_AT
  end)
  return reply
end

register('scan', { 'no-writes' }, run)
