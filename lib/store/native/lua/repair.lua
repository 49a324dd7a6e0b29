-- Finds messages that are stored but in no state, because somebody deleted or changed keys. Makes them ready, or delayed if they are not
-- due. First turns abandoned followers into messages, and gives a lease to claims without one. Followers are abandoned if a process of an
-- older version, which knows no followers, settles the messages that they follow.
--
-- KEYS messages delayed ready claims leases dead wake paused followers attempts errors
--      | permits backlog held
-- ARGV cursor: text, from the previous call, empty: a new search, which starts with followers, and then ends if the counts show no loss
--      lease: number, in ms, given to claims that have none; a consumer that holds such a claim extends the lease, otherwise it expires
--      size: number, roughly how many messages to examine; a small hash is examined as a whole
--      max_delay: number, longest possible delay in ms; a message delayed for longer was written by somebody else
--      channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
--      | groups: text, as in modules/groups.lua
-- Returns the next cursor (empty: the search is over, or there are too many ready messages to search), the ids of the messages that it has
--      made ready, and of those that it has delayed again.
--
-- Atomic so that a message on its way from one state to another is not mistaken for lost. A crash right afterwards leaves the messages
-- ready or delayed; a lost announcement costs a check interval.

-- With more ready messages than this, searching all of them for each part of the queue would take too long.
local MAX_READY = 10000

-- True if the counts show that every message is in a state. `elsewhere`: how many ready messages are not in the list of ready ids.
local function is_sound(q, ready, elsewhere)
  local known = call('ZCARD', q.delayed) + ready + elsewhere + Claims.count(q.claims) + call('ZCARD', q.dead)
  return call('HLEN', q.messages) <= known
end

-- Stores followers in one part of all followers as messages if the messages that they follow are gone or dead. Returns the next cursor.
local function store_abandoned(q, request, cursor)
  local next_cursor, part = unpack(call('HSCAN', q.followers, cursor, 'COUNT', request.size))
  local ids, dead = {}, {}
  for at = 1, #part, 2 do
    local id = part[at]
    local is_dead = call('ZSCORE', q.dead, id)
    if is_dead or call('HEXISTS', q.messages, id) == 0 then
      ids[#ids + 1] = id
    end
    if is_dead then
      dead[#dead + 1] = id
    end
  end
  local now, micros = Clock.read()
  local followers = Followers.plan(q, ids, now, micros)
  if followers then
    call('HLEN', q.errors)
    Permissions.check('ZREM', q.dead, 'HDEL', q.errors)
    Channel.announce(request.database, request.channel, Scores.lowest(q.delayed), followers.earliest, now)
    if #dead > 0 then
      call('ZREM', q.dead, unpack(dead))
      call('HDEL', q.errors, unpack(dead))
    end
    Followers.store(q, followers)
  end
  return next_cursor
end

-- Returns the due time in a lost message's record, which each delay updates. Nil if it is past, or further away than any delay could be.
local function future_due(record, now, max_delay)
  local due = Record.due(record)
  return due > now and due - now <= max_delay and due or nil
end

-- True if a message that is in no other state waits in its group's backlog. Marks the group as changed, so that its backlog moves on even
-- if `permits` lacks the group. `search`: the backlogs that were read, and the ids that wait in them.
local function waits_in_backlog(q, id, search)
  Groups.read(q, { id })
  local group = q.groups.of[id]
  if group and not search.are_read[group] then
    search.are_read[group], group.is_changed = true, true
    for _, other in ipairs(Groups.run_on_backlog(q, 'LRANGE', group.name, 0, -1) or {}) do
      search.waiting[other] = true
    end
  end
  return search.waiting[id]
end

-- Searches one part of the queue for messages in no state. Returns the ids to make ready, the ids to delay again, and the due times of the
-- latter by their members in `delayed`. Also returns the cursor of the next part.
local function find_lost(q, request, now)
  local next_cursor, part = unpack(call('HSCAN', q.messages, request.cursor == '' and '0' or request.cursor, 'COUNT', request.size))
  local lost, search = { ready = {}, delayed = {}, dues = {} }, { waiting = {}, are_read = {} }
  local ready, holders
  for at = 1, #part, 2 do
    local id, record = part[at], part[at + 1]
    local member = Record.member_of(id, record, q.groups)
    if not call('ZSCORE', q.delayed, member) and not call('ZSCORE', q.dead, id) then
      ready = ready or Ids.set(call('LRANGE', q.ready, '0', '-1'))
      holders = holders or Claims.holders(q.claims)
      if not (ready[id] or holders[id] or q.groups and waits_in_backlog(q, id, search)) then
        local due = future_due(record, now, request.max_delay)
        local ids = due and lost.delayed or lost.ready
        ids[#ids + 1], lost.dues[member] = id, due
        lost.earliest = Scores.lower(lost.earliest, due)
      end
    end
  end
  return lost, next_cursor
end

-- Gives a lease to claims without one, which would never end. True if there were any: their messages may be gone, so counts prove nothing.
local function lease_claims(q, request)
  local leased, missing = Ids.set(call('ZRANGE', q.leases, '0', '-1')), {}
  local claims = call('HGETALL', q.claims)
  for at = 1, #claims, 2 do
    if not leased[claims[at]] then
      missing[#missing + 1] = claims[at]
    end
  end
  if #missing == 0 then
    return false
  end
  local now, micros = Clock.read()
  local ends = Clock.after(request.lease, micros)
  Permissions.check('ZADD', q.leases)
  Channel.announce(request.database, request.channel, Scores.lowest(q.delayed), ends, now)
  for _, token in ipairs(missing) do
    call('ZADD', q.leases, format('%.0f', ends), token)
  end
  return true
end

-- Returns how many messages wait in backlogs, and true if the permits are right: each permit in use belongs to a message, and no message
-- waits while its group has room.
local function look_at_groups(q, ready, active)
  local taken, waiting, is_right, names, is_named = 0, 0, true, {}, { [Groups.ANY_WIDE] = true }
  for _, key in ipairs({ q.permits, q.backlog }) do
    for _, name in ipairs(call('HKEYS', key)) do
      if not is_named[name] then
        names[#names + 1], is_named[name] = name, true
      end
    end
  end
  for i, text in ipairs(Groups.texts(q, names)) do
    local group = Groups.state(q, names[i], text)
    local length = Groups.run_on_backlog(q, 'LLEN', group.name) or 0
    taken, waiting = taken + group.taken, waiting + length
    is_right = is_right and (group.taken > 0 or not group.stored) and not (length > 0 and Groups.has_room(group))
  end
  return waiting, is_right and taken == ready + active + call('HLEN', q.held)
end

local function count_permits(q, ids, of_ready)
  for first = 1, #ids, 1000 do
    local part = { unpack(ids, first, min(first + 999, #ids)) }
    Groups.read(q, part)
    Groups.change(q, part, 1, of_ready)
  end
end

-- Counts the permits of all groups again, because they do not match what is stored: somebody may have deleted or changed keys.
local function recount_groups(q)
  local active, held = {}, {}
  for _, group in ipairs(q.groups.opened) do
    group.taken, group.ready, group.is_changed = 0, 0, true
  end
  for id in pairs(Claims.holders(q.claims)) do
    active[#active + 1] = id
  end
  for _, id in ipairs(call('HKEYS', q.held)) do
    Groups.read(q, { id })
    if call('ZSCORE', q.delayed, Groups.member(q, id)) then
      held[#held + 1] = id
    else
      call('HDEL', q.held, id)
    end
  end
  count_permits(q, call('LRANGE', q.ready, '0', '-1'), 1)
  count_permits(q, active, 0)
  count_permits(q, held, 0)
  Wake.signal_ready(q, Groups.store(q))
end

local function run(keys, args)
  local q = {
    messages = keys[1], delayed = keys[2], ready = keys[3], claims = keys[4], leases = keys[5], dead = keys[6], wake = keys[7],
    paused = keys[8], followers = keys[9], attempts = keys[10], errors = keys[11], permits = keys[12], backlog = keys[13], held = keys[14],
  }
  local request = {
    cursor = args[1], lease = tonumber(args[2]), size = tonumber(args[3]), max_delay = tonumber(args[4]), channel = args[5],
    database = args[6],
  }
  local groups = args[7]
  if q.permits then
    Groups.begin(q, groups)
  end
  local of_followers = request.cursor == '' and '0' or match(request.cursor, '^followers (%d+)$')
  if of_followers then
    local next_cursor = store_abandoned(q, request, of_followers)
    if next_cursor ~= '0' then
      return { 'followers ' .. next_cursor, {}, {} }
    end
    request.cursor = ''
  end
  local is_new = request.cursor == ''
  local has_leased = is_new and lease_claims(q, request)
  local ready, elsewhere = call('LLEN', q.ready), 0
  if q.groups then
    if ready + call('HLEN', q.permits) + call('HLEN', q.backlog) > MAX_READY then
      return { '', {}, {} }
    end
    Groups.check(q)
    Wake.check(q)
    local is_right
    elsewhere, is_right = look_at_groups(q, ready, Claims.count(q.claims))
    if not is_right then
      recount_groups(q)
    end
  end
  if ready + elsewhere > MAX_READY or (is_new and not has_leased and is_sound(q, ready, elsewhere)) then
    return { '', {}, {} }
  end
  local now = Clock.read()
  local lost, next_cursor = find_lost(q, request, now)
  local found = lost.ready
  if #found > 0 then
    Permissions.check('RPUSH', q.ready)
    Wake.check(q)
  end
  if #lost.delayed > 0 then
    Permissions.check('ZADD', q.delayed)
    Channel.announce(request.database, request.channel, Scores.lowest(q.delayed), lost.earliest, now)
  end
  local again = found
  if q.groups then
    local names = Groups.names(q, found)
    again = Groups.join(q, found, names, Groups.texts(q, names))
  end
  for _, id in ipairs(again) do
    call('RPUSH', q.ready, id)
  end
  Wake.signal_ready(q, #again)
  if q.groups then
    Wake.signal_ready(q, Groups.store(q))
  end
  for member, due in pairs(lost.dues) do
    call('ZADD', q.delayed, due, member)
  end
  return { next_cursor == '0' and '' or next_cursor, found, lost.delayed }
end

register('repair', { 'allow-oom' }, run)
