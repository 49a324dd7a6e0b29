-- A group has a limited number of permits. A message takes one when it becomes ready, and has it until it is settled; with 'hold', also
-- while it waits for a retry. Due messages without a permit wait in their group's backlog, in the order in which they fell due. Groups are
-- served round-robin: a group may give a message a permit and append it to the list of ready ids only if it has no other message there.
-- After each call, a group that may still do so has an empty backlog. Claims that can take more than the list has also use the backlogs.
--
-- permits HASH group → '1' if the group's only permit is taken; otherwise a string that packs how many permits are taken, and how many of
--         them by ready messages. The field '' exists if any group has such a string, or once had; it is '2' while any group has
--         settings of its own.
-- backlog LIST of ids, at the key `backlog` followed by the group's name. These keys are not declared, but share the others' hash slot. A
--         backlog packed into a field of `permits` would cost nearly twice as much: Redis' Lua hashes every byte of a string.
--         At the key `backlog` itself: HASH group → its own settings: its number of permits (0: no limit; empty: as other groups), a space,
--         and 'paused' or nothing.
-- held    HASH id → group, of delayed messages that have a permit
--
-- If the queue's messages have groups, `q.groups` holds what the call has read and is about to change; otherwise it is nil.

-- The field of `permits` that exists if any group's string packs numbers, or once did, and its value while any group has own settings.
Groups.ANY_WIDE = ''
Groups.ANY_SETTINGS = '2'

-- Creates `q.groups`. `rules`: '<number of permits of each group, 0: no limit> <hold or pass>'
function Groups.begin(q, rules)
  local permits, on_retry = match(rules, '^(%d+) (%a+)$')
  q.groups = {
    permits = permits == '0' and huge or tonumber(permits), are_retries_held = on_retry == 'hold',
    -- True if claims must count ready messages: a group may have several permits.
    counts_ready = permits ~= '1',
    -- True if a claim has found that any group has settings of its own.
    has_settings = false,
    -- The settings of groups that the call has read, by name; nil if no group has any.
    settings = nil,
    -- The groups that the call may change: by name, by message id, and in the order in which they were opened.
    by_name = {}, of = {}, opened = {},
    -- How many messages remove_ready has moved from backlogs to the list of ready ids since the groups were last stored.
    admitted = 0,
  }
end

-- Raises an error before the first write if the list of ready ids has the wrong type, or the user may not change what `store` changes. The
-- type of `permits` is checked when groups are read.
function Groups.check_permits(q)
  call('LLEN', q.ready)
  Permissions.check('HSET', q.permits, 'HDEL', q.permits, 'LPOP', q.backlog, 'RPUSH', q.ready)
end

-- Raises an error before the first write if one of the groups' keys has the wrong type, or if the user may not change it.
function Groups.check(q)
  call('HLEN', q.permits)
  Groups.check_permits(q)
  call('HLEN', q.held)
  Permissions.check('RPUSH', q.backlog, 'HSET', q.held, 'HDEL', q.held)
end

-- Lets each call that reads `permits` know whether any group has settings of its own. Versions without such settings may remove the mark,
-- so claims restore it. Returns true if any group has settings.
function Groups.mark_settings(q)
  local has_settings = call('EXISTS', q.backlog) > 0
  if has_settings ~= (call('HGET', q.permits, Groups.ANY_WIDE) == Groups.ANY_SETTINGS) then
    call('HSET', q.permits, Groups.ANY_WIDE, has_settings and Groups.ANY_SETTINGS or '1')
  end
  return has_settings
end

-- Returns the strings that `permits` stores for these groups, and reads their own settings if any group has some.
function Groups.texts(q, names)
  local count = #names
  if count == 0 then
    return {}
  end
  names[count + 1] = Groups.ANY_WIDE
  local texts = call('HMGET', q.permits, unpack(names))
  local mark = texts[count + 1]
  names[count + 1], texts[count + 1] = nil, nil
  if mark == Groups.ANY_SETTINGS then
    q.groups.settings = q.groups.settings or {}
    for i, text in ipairs(call('HMGET', q.backlog, unpack(names))) do
      q.groups.settings[names[i]] = text
    end
  end
  return texts
end

-- Returns how many permits are taken, and how many of them by ready messages. `text`: the group's string from `permits`. Any string of another
-- form was written by somebody else, and counts as no permit taken.
function Groups.taken(text)
  if text == '1' then
    return 1, 0
  elseif text and #text == 8 then
    local taken, ready = unpack_bytes('>I4I4', text)
    return taken, ready
  end
  return 0, 0
end

-- Sets how many permits a group has. `settings`: its own, from the hash at `backlog`; false or nil: none.
function Groups.apply(q, group, settings)
  local own, paused = match(settings or '', '^(%d*) (%a*)$')
  group.has_settings, group.is_paused = own ~= nil, paused == 'paused'
  group.permits = own == '0' and huge or tonumber(own or '') or q.groups.permits
  if group.is_paused then
    group.permits = 0
  end
end

-- Examines roughly `count` groups that have permits in use or settings of their own; no other group has a backlog. Returns the next cursor
-- (empty: there are no more), the groups' names, and their strings from `permits` (false: none). `cursor`: '0' at first. Once all groups with
-- permits have been examined, cursors begin with 's', for those that have settings only.
function Groups.scan(q, cursor, count)
  local is_of_settings, at = sub(cursor, 1, 1) == 's', match(cursor, '%d+')
  local following, part = unpack(call('HSCAN', is_of_settings and q.backlog or q.permits, at, 'COUNT', count))
  local names, texts = {}, {}
  for i = 1, #part, 2 do
    local name = part[i]
    if name ~= Groups.ANY_WIDE and not (is_of_settings and call('HGET', q.permits, name)) then
      names[#names + 1], texts[#texts + 1] = name, not is_of_settings and part[i + 1]
    end
  end
  if following ~= '0' then
    return is_of_settings and 's' .. following or following, names, texts
  end
  return not is_of_settings and call('EXISTS', q.backlog) > 0 and 's0' or '', names, texts
end

-- Returns the state of a group. `text`: its string from `permits`, used unless the call has already read the group.
function Groups.state(q, name, text)
  local groups = q.groups
  local group = groups.by_name[name]
  if not group then
    group = { name = name, stored = text, added = 0 }
    group.taken, group.ready = Groups.taken(text)
    Groups.apply(q, group, groups.settings and groups.settings[name])
    groups.by_name[name], groups.opened[#groups.opened + 1] = group, group
  end
  return group
end

-- Opens these messages' groups: adds them to `q.groups`. A message without a group was written by somebody else, and opens none.
function Groups.open(q, ids, names)
  local texts, of = Groups.texts(q, names), q.groups.of
  for i, id in ipairs(ids) do
    of[id] = names[i] ~= '' and Groups.state(q, names[i], texts[i])
  end
end

-- Returns the names of these messages' groups. Reads one record at a time, because each may be as large as a payload. If somebody has
-- deleted a record, the message's group is known only if the message is in `held`; otherwise, its name is ''.
function Groups.names(q, ids)
  local names = {}
  for i, id in ipairs(ids) do
    local record = call('HGET', q.messages, id)
    names[i] = record and Record.group(record) or call('HGET', q.held, id) or ''
  end
  return names
end

-- Opens the groups of these messages, of which only the ids are known, unless they are already open.
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

-- For each message, adds `taken` to its group's count of permits taken, and `ready` to its group's count of ready messages.
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

-- Counts these messages as ready again. They keep their permits.
function Groups.return_ready(q, ids)
  Groups.change(q, ids, 0, 1)
end

-- True if a group may append a message to the list of ready ids: it has a free permit, and no message in the list. If groups have a single
-- permit, `ready` is not stored, but the permit is free only if there is no such message.
function Groups.has_room(group)
  return group.taken < group.permits and (group.taken == 0 or group.ready == 0)
end

local function take_permit(group)
  group.ready = group.taken == 0 and 1 or group.ready + 1
  group.taken, group.is_changed = group.taken + 1, true
end

-- Runs a command on a backlog. A key of the wrong type counts as no backlog, because an error would stop the call between two writes.
function Groups.run_on_backlog(q, command, name, ...)
  local reply = protected_call(command, q.backlog .. name, ...)
  return (type(reply) ~= 'table' or not reply.err) and reply
end

-- Returns the string that `permits` stores for a group; false if it stores none.
local function encode(q, group)
  if group.taken == 1 and q.groups.permits == 1 and not group.has_settings then
    return '1'
  end
  return group.taken > 0 and pack('>I4I4', group.taken, group.ready)
end

-- Appends the next message of each changed group with room to the list of ready ids, and stores the groups. Returns how many it appended.
function Groups.store(q)
  local groups, came, texts, gone, any_wide = q.groups, {}, {}, {}, false
  for _, group in ipairs(groups.opened) do
    local following = group.is_changed and Groups.has_room(group) and Groups.run_on_backlog(q, 'LPOP', group.name)
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
    texts[#texts + 1], texts[#texts + 2] = Groups.ANY_WIDE, groups.settings and Groups.ANY_SETTINGS or '1'
  end
  if #texts > 0 then
    call('HSET', q.permits, unpack(texts))
  end
  if #gone > 0 then
    call('HDEL', q.permits, unpack(gone))
    if not groups.settings and call('HLEN', q.permits) == 1 then
      call('HDEL', q.permits, Groups.ANY_WIDE)
    end
  end
  -- A message that remove_ready has moved to the list may have been removed from it again by the same call.
  local count = #came + (groups.admitted > 0 and min(groups.admitted, call('LLEN', q.ready)) or 0)
  groups.admitted = 0
  return count
end

-- If every group has a single permit, and none ever had more, passes the permits of handled messages on to the next messages in the
-- backlogs, without reading the groups. Their names are `args[first]` to `args[last]`. Returns how many messages have become ready.
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

-- Returns functions that free the permits of handled messages: `plan` is called before the first write, `pass_on` after the last.
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

-- True if a delayed message has fallen due before, and waits for its group's rate (group-rate.lua). `score`: from `delayed`.
function Groups.waits_for_rate(record, score)
  return Record.is(record) and Record.due(record) < floor(score)
end

-- Frees the permit of a delayed message that is gone, if it kept one.
function Groups.leave_if_held(q, id)
  if call('HDEL', q.held, id) == 1 then
    Groups.leave(q, { id })
  end
end

-- True if a due message must wait in its group's backlog. `text`: the group's string from `permits`.
local function must_wait(q, name, text)
  local group = Groups.state(q, name, text)
  -- If this call has changed the group, the message must wait behind the backlog, from which `store` takes the group's next message.
  return group.is_changed or not Groups.has_room(group)
end

-- Adds due messages to their groups. Returns the ids of those that are ready; the others wait. `names`, `texts`: their groups' names and
-- strings from `permits`. Avoids run_on_backlog, which costs more, because every message of a backlog passes through here.
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
      -- If the next message is of the same group, it must wait, too, so one command appends both to the backlog.
      if names[i + 1] ~= name or held[i + 1] then
        local reply = first == i and protected_call('RPUSH', backlog .. name, ids[i])
          or protected_call('RPUSH', backlog .. name, unpack(ids, first, i))
        if type(reply) == 'table' then
          -- The command has failed, so the messages become ready: better out of order than lost.
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

-- Removes a ready message from the list of ready ids or from its group's backlog. If it was in the list, the first message of the backlog
-- gets its permit, unless it would overtake a message that a claim has released. If the group has a single permit, it also gets the place.
-- Otherwise it must queue up: another message of the group may be in the list, which `ready` does not count if it became ready while the
-- group had a single permit.
function Groups.remove_ready(q, id)
  local group = q.groups.of[id]
  local following = group and group.taken <= group.permits and Groups.run_on_backlog(q, 'LINDEX', group.name, 0)
  if following and group.ready < 2 and call('LINSERT', q.ready, 'BEFORE', id, following) > 0 then
    Groups.run_on_backlog(q, 'LPOP', group.name)
    call('LREM', q.ready, '1', id)
    if group.permits > 1 then
      call('RPUSH', q.ready, following)
      call('LREM', q.ready, '1', following)
    end
    q.groups.admitted = q.groups.admitted + 1
  elseif call('LREM', q.ready, '1', id) == 1 then
    Groups.change(q, { id }, -1, -1)
  elseif group then
    Groups.run_on_backlog(q, 'LREM', group.name, 1, id)
  end
end

-- The functions below change groups for a claim. With a single permit per group, most do nothing: a claimed message keeps its permit.

-- Returns a true value if the queue is paused. Sets `has_settings` of `q.groups` to true if any group has settings of its own.
function Groups.read_pauses(q)
  -- Usually neither key exists.
  if call('EXISTS', q.paused, q.backlog) == 0 then
    return false
  end
  q.groups.has_settings = call('HLEN', q.backlog) > 0
  q.groups.counts_ready = q.groups.counts_ready or q.groups.has_settings
  return call('GET', q.paused)
end

-- If the list of ready ids, which `ids` contains, has fewer messages than a claim can take, appends messages from their groups' backlogs to
-- `ids`. Each group adds one, round-robin, while it has free permits and its rate allows it (group-rate.lua). Returns how many were added.
-- leave_to_claim removes them there.
function Groups.top_up(q, ids, most)
  local before, last = #ids, nil
  Groups.read(q, ids)
  repeat
    last = #ids
    for _, group in ipairs(q.groups.opened) do
      local is_within_rate = not group.left or group.added < group.left
      if #ids < most and is_within_rate and group.taken + group.added < group.permits then
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

-- True if, once the first `count` of these ready messages have left the list of ready ids, one of their groups has both a free permit and a
-- message in its backlog to add to the list.
function Groups.go_on(q, ids, count)
  if not q.groups.counts_ready then
    return false
  end
  Groups.read(q, { unpack(ids, 1, count) })
  for _, group in ipairs(q.groups.opened) do
    local has_permit = group.taken + group.added < group.permits
    if has_permit and (Groups.run_on_backlog(q, 'LLEN', group.name) or 0) > group.added then
      return true
    end
  end
  return false
end

-- Counts these messages, which a claim has released, as ready again.
function Groups.release(q, ids)
  if q.groups.counts_ready and #ids > 0 then
    Groups.read(q, ids)
    Groups.return_ready(q, ids)
    Groups.store(q)
  end
end

-- Updates groups for a claim that takes the first `count` of `ids`. The first `in_list` of them were in the list of ready ids; the rest are
-- removed from backlogs. `lost`: ids without a message. Their permits are freed; other messages keep theirs.
function Groups.leave_to_claim(q, ids, count, in_list, lost)
  if not q.groups.counts_ready and #lost == 0 then
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
