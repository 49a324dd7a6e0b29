-- A group has a limited number of permits. A message takes one when it becomes ready, and has it until it is settled; with 'hold', also
-- while it waits for a retry. Due messages without a permit wait in their group's backlog, in the order in which they fell due. Groups are
-- served round-robin: each has at most one message in the list of ready ids, behind those of other groups, unless no other group has a
-- ready message. So a group's backlog is empty whenever the group may add a message to that list.
--
-- permits HASH group → '1': the group's only permit is taken; any other text packs how many permits are taken, and how many of those by
--         ready messages. A field '' exists if any group has, or had, such a text.
-- backlog LIST of ids, at the key `backlog` followed by the group's name. These keys are not declared, but share the others' hash slot. A
--         backlog packed into a field of `permits` would cost nearly twice as much: Redis' Lua hashes every byte of a string.
-- held    HASH id → group, of delayed messages that have a permit
--
-- If the queue's messages have groups, `q.groups` holds what the call has read and is about to change; otherwise it is nil.

-- The field of `permits` that exists if any group's text packs numbers, or did.
Groups.ANY_WIDE = ''

-- `rules`: '<number of permits of each group, 0: no limit> <hold or pass>'
function Groups.begin(q, rules)
  local permits, on_retry = match(rules, '^(%d+) (%a+)$')
  q.groups = {
    permits = permits == '0' and huge or tonumber(permits), are_retries_held = on_retry == 'hold',
    -- The groups that the call may change: by name, by message id, and in the order in which they were opened.
    by_name = {}, of = {}, opened = {},
    -- How many messages have entered the list of ready ids since the groups were last stored.
    admitted = 0,
  }
end

-- Raises an error before the first write if the user may not change what `store` changes. Reading proves that `permits` has the right type.
function Groups.check_permits(q)
  call('LLEN', q.ready)
  Permissions.check('HSET', q.permits, 'HDEL', q.permits, 'LPOP', q.backlog, 'RPUSH', q.ready)
end

-- Raises an error before the first write if a key of groups has another type, or the user may not change it.
function Groups.check(q)
  call('HLEN', q.permits)
  Groups.check_permits(q)
  call('HLEN', q.held)
  Permissions.check('RPUSH', q.backlog, 'HSET', q.held, 'HDEL', q.held)
end

-- Returns the stored texts of groups.
function Groups.texts(q, names)
  return #names > 0 and call('HMGET', q.permits, unpack(names)) or {}
end

-- Returns the state of a group. `text`: its stored text.
function Groups.state(q, name, text)
  local groups = q.groups
  local group = groups.by_name[name]
  if not group then
    group = { name = name, stored = text, taken = 0, ready = 0, added = 0 }
    -- Any other text was written by somebody else, and counts as no permit taken.
    if text == '1' then
      group.taken = 1
    elseif text and #text == 8 then
      group.taken, group.ready = unpack_bytes('>I4I4', text)
    end
    groups.by_name[name], groups.opened[#groups.opened + 1] = group, group
  end
  return group
end

-- Opens the groups of these messages. A message without a group was written by somebody else, and opens none.
function Groups.open(q, ids, names)
  local texts, of = Groups.texts(q, names), q.groups.of
  for i, id in ipairs(ids) do
    of[id] = names[i] ~= '' and Groups.state(q, names[i], texts[i])
  end
end

-- Returns the names of these messages' groups. Reads one record at a time, because each may be as large as a payload. If somebody has
-- deleted the record, its group is known only if the message is in `held`.
function Groups.names(q, ids)
  local names = {}
  for i, id in ipairs(ids) do
    local record = call('HGET', q.messages, id)
    names[i] = record and Record.group(record) or call('HGET', q.held, id) or ''
  end
  return names
end

-- Opens the groups of messages of which only the ids are known, unless the groups are already open.
function Groups.read(q, ids)
  local unread, of = {}, q.groups.of
  for _, id in ipairs(ids) do
    if of[id] == nil then
      unread[#unread + 1] = id
    end
  end
  Groups.open(q, unread, Groups.names(q, unread))
end

-- Returns the member of `delayed` for a message whose group is open.
function Groups.member(q, id)
  local group = q.groups.of[id]
  return Record.member(id, group and group.name or '')
end

-- Changes how many permits these messages' groups have taken, and how many of those belong to ready messages.
function Groups.change(q, ids, taken, ready)
  for _, id in ipairs(ids) do
    local group = q.groups.of[id]
    if group then
      group.is_changed = true
      group.taken, group.ready = max(0, group.taken + taken), max(0, group.ready + ready)
    end
  end
end

-- Frees the permits that these messages hold.
function Groups.leave(q, ids)
  Groups.change(q, ids, -1, 0)
end

-- Makes these messages ready again. They keep their permits.
function Groups.return_ready(q, ids)
  Groups.change(q, ids, 0, 1)
end

-- True if a group may put one more message into the list of ready ids. If groups have a single permit, ready messages are not counted.
function Groups.has_room(q, group)
  return group.taken < q.groups.permits and (group.taken == 0 or group.ready == 0)
end

local function take_permit(group)
  group.ready = group.taken == 0 and 1 or group.ready + 1
  group.taken, group.is_changed = group.taken + 1, true
end

-- Runs a command on a backlog. A key of another type counts as no backlog: an error would stop the call between two writes.
function Groups.run_on_backlog(q, command, name, ...)
  local reply = protected_call(command, q.backlog .. name, ...)
  return (type(reply) ~= 'table' or not reply.err) and reply
end

-- Returns the text to store for a group; false if there is nothing to store.
local function encode(q, group)
  if group.taken == 1 and q.groups.permits == 1 then
    return '1'
  end
  return group.taken > 0 and pack('>I4I4', group.taken, group.ready)
end

-- Adds the next message of each changed group with room to the list of ready ids, and stores the groups. Returns how many were added.
function Groups.store(q)
  local groups, came, texts, gone, any_wide = q.groups, {}, {}, {}, false
  for _, group in ipairs(groups.opened) do
    local following = group.is_changed and Groups.has_room(q, group) and Groups.run_on_backlog(q, 'LPOP', group.name)
    if following then
      take_permit(group)
      came[#came + 1] = following
    end
    local text = encode(q, group)
    if group.is_changed and text ~= group.stored then
      if text then
        texts[#texts + 1], texts[#texts + 2] = group.name, text
        any_wide = any_wide or text ~= '1'
      else
        gone[#gone + 1] = group.name
      end
      group.stored = text
    end
    group.is_changed = false
  end
  if #came > 0 then
    call('RPUSH', q.ready, unpack(came))
  end
  if any_wide then
    texts[#texts + 1], texts[#texts + 2] = Groups.ANY_WIDE, '1'
  end
  if #texts > 0 then
    call('HSET', q.permits, unpack(texts))
  end
  if #gone > 0 then
    call('HDEL', q.permits, unpack(gone))
    if call('HLEN', q.permits) == 1 then
      call('HDEL', q.permits, Groups.ANY_WIDE)
    end
  end
  -- A message that has entered the list may have left it again in the same call.
  local count = #came + (groups.admitted > 0 and min(groups.admitted, call('LLEN', q.ready)) or 0)
  groups.admitted = 0
  return count
end

-- If every group has a single permit, and none ever had more, nothing needs to be read about groups whose messages were handled: the next
-- message of each backlog gets the permit. The names of the groups are `args[first]` to `args[last]`.
local function pass_single_on(q, args, first, last)
  local came, emptied, backlog, count = {}, {}, q.backlog, 0
  for i = first, last do
    local following = protected_call('LPOP', backlog .. args[i])
    if following and type(following) == 'string' then
      count = count + 1
      came[count] = following
    else
      emptied[#emptied + 1] = args[i]
    end
  end
  if count > 0 then
    call('RPUSH', q.ready, unpack(came))
  end
  if #emptied > 0 then
    call('HDEL', q.permits, unpack(emptied))
  end
  return count
end

-- Frees the permits of messages that were handled: `plan` runs before the first write, `pass_on` after the last.
function Groups.acknowledgement(q, args, first, last)
  local is_single
  return {
    plan = function(ids)
      Groups.check_permits(q)
      Wake.check(q)
      is_single = q.groups.permits == 1 and call('HEXISTS', q.permits, Groups.ANY_WIDE) == 0
      if not is_single then
        Groups.open(q, ids, { unpack(args, first, last) })
      end
    end,
    pass_on = function(ids)
      if not is_single then
        Groups.leave(q, ids)
      end
      Wake.signal_ready(q, is_single and pass_single_on(q, args, first, last) or Groups.store(q))
    end,
  }
end

-- Records that these messages keep their permits while they are delayed.
function Groups.hold(q, ids)
  for _, id in ipairs(ids) do
    local group = q.groups.of[id]
    call('HSET', q.held, id, group and group.name or '')
  end
end

-- Notes that a delayed message is gone, and frees its permit if it was held.
function Groups.leave_if_held(q, id)
  if call('HDEL', q.held, id) == 1 then
    Groups.leave(q, { id })
  end
end

-- True if a due message must wait in its group's backlog. `text`: its group's stored text.
local function must_wait(q, name, text)
  local group = Groups.state(q, name, text)
  -- If a message has left the group in this call, its permit goes to the backlog.
  return group.is_changed or not Groups.has_room(q, group)
end

-- Adds due messages to their groups. Returns those that are ready; the rest wait. `names`, `texts`: their groups' names and stored texts.
-- Every message of a backlog passes through here, so this function avoids run_on_backlog, which costs more.
function Groups.join(q, ids, names, texts)
  local by_name, backlog, has_single = q.groups.by_name, q.backlog, q.groups.permits == 1
  local ready, unheld, first = {}, {}, nil
  local held = #ids > 0 and call('HLEN', q.held) > 0 and call('HMGET', q.held, unpack(ids)) or {}
  for i = 1, #ids do
    local name = names[i]
    if name == '' then
      ready[#ready + 1] = ids[i]
    elseif held[i] then
      local group = Groups.state(q, name, texts[i])
      group.ready, group.is_changed = group.ready + 1, true
      ready[#ready + 1], unheld[#unheld + 1] = ids[i], ids[i]
    elseif has_single and texts[i] == '1' and not by_name[name] or must_wait(q, name, texts[i]) then
      first = first or i
      -- The group's next message must wait, too.
      if names[i + 1] ~= name or held[i + 1] then
        local reply = first == i and protected_call('RPUSH', backlog .. name, ids[i])
          or protected_call('RPUSH', backlog .. name, unpack(ids, first, i))
        if type(reply) == 'table' then
          -- The messages cannot wait in their backlog, so they become ready: better out of order than lost.
          for at = first, i do
            ready[#ready + 1] = ids[at]
            take_permit(Groups.state(q, name))
          end
        end
        first = nil
      end
    else
      ready[#ready + 1] = ids[i]
      take_permit(by_name[name])
    end
  end
  if #unheld > 0 then
    call('HDEL', q.held, unpack(unheld))
  end
  return ready
end

-- Removes a ready message. The next one in its backlog gets its place and permit, but overtakes no message that a claim has released.
function Groups.remove_ready(q, id)
  local group = q.groups.of[id]
  local following = group and Groups.run_on_backlog(q, 'LINDEX', group.name, 0)
  if following and group.ready < 2 and call('LINSERT', q.ready, 'BEFORE', id, following) > 0 then
    Groups.run_on_backlog(q, 'LPOP', group.name)
    call('LREM', q.ready, '1', id)
    q.groups.admitted = q.groups.admitted + 1
  elseif call('LREM', q.ready, '1', id) == 1 then
    Groups.change(q, { id }, -1, -1)
  elseif following then
    Groups.run_on_backlog(q, 'LREM', group.name, 1, id)
  end
end

-- What a claim changes in groups: nothing if each has a single permit, because whatever is claimed already has it.

-- If fewer messages are ready than a claim can take, their groups add one each, round-robin, while they have permits. Appends to `ids`,
-- which lists all ready ids, and returns how many were added. These stay in their backlogs until leave_to_claim takes them.
function Groups.top_up(q, ids, most)
  local before, last, permits = #ids, nil, q.groups.permits
  Groups.read(q, ids)
  repeat
    last = #ids
    for _, group in ipairs(q.groups.opened) do
      if #ids < most and group.taken + group.added < permits then
        group.backlog = group.backlog or Groups.run_on_backlog(q, 'LRANGE', group.name, 0, most - last - 1) or {}
        local following = group.backlog[group.added + 1]
        if following then
          group.added = group.added + 1
          ids[#ids + 1], q.groups.of[following] = following, group
        end
      end
    end
  until #ids == last
  return #ids - before
end

-- True if a group has another message for the list of ready ids once the first `count` of these ready messages have left it.
function Groups.go_on(q, ids, count)
  if q.groups.permits == 1 then
    return false
  end
  Groups.read(q, { unpack(ids, 1, count) })
  for _, group in ipairs(q.groups.opened) do
    local has_permit = group.taken + group.added < q.groups.permits
    if has_permit and (Groups.run_on_backlog(q, 'LLEN', group.name) or 0) > group.added then
      return true
    end
  end
  return false
end

-- Notes that these ids are ready again.
function Groups.release(q, ids)
  if q.groups.permits > 1 and #ids > 0 then
    Groups.read(q, ids)
    Groups.return_ready(q, ids)
    Groups.store(q)
  end
end

-- Removes the first `count` of these ids from the ready ones. `in_list`: how many of `ids` are in the list of ready ids; the rest are in
-- backlogs. `lost`: the ids that have no message; the others keep their permits.
function Groups.leave_to_claim(q, ids, count, in_list, lost)
  if q.groups.permits == 1 and #lost == 0 then
    return
  end
  local listed = { unpack(ids, 1, min(count, in_list)) }
  Groups.read(q, listed)
  Groups.change(q, listed, 0, -1)
  for i = in_list + 1, count do
    local group = q.groups.of[ids[i]]
    Groups.run_on_backlog(q, 'LPOP', group.name)
    group.taken, group.is_changed = group.taken + 1, true
  end
  Groups.leave(q, lost)
  Groups.store(q)
end
