-- Finds where the next page of a queue begins: after the last message of the previous page, even if that message has moved.

-- Compares byte by byte, as Redis orders members. Lua's own comparison depends on the server's locale.
local function comes_after(text, other)
  for at = 1, min(#text, #other) do
    local one, two = byte(text, at), byte(other, at)
    if one ~= two then
      return one > two
    end
  end
  return #text > #other
end

-- Returns the position, from 0, of a set's first member after this score and member. `bytes`: how many leading bytes of members to compare.
function Pages.place_behind(key, score, member, bytes)
  local low, high = 0, call('ZCARD', key)
  while low < high do
    local middle = floor((low + high) / 2)
    local there = call('ZRANGE', key, middle, middle, 'WITHSCORES')
    local found = tonumber(there[2])
    if found < score or (found == score and not comes_after(sub(there[1], 1, bytes or -1), member)) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- How many positions of a list to search for ids: towards its head, first fewer and then more; and towards its tail.
local SEARCH_AHEAD, SEARCH_BEHIND = { 1000, 10000 }, 1000

-- Returns the position, from 0, after the last of these ids, which were next to each other in a list. `position`: where the last of them
-- was. Claims take ids from the head, so the rest move towards it. Released ids return to the head, and push the rest back. If none of the
-- ids is found, assumes that claims have taken them and everything before them, but no more than 10000 ids.
local function place_behind_listed(key, position, ids)
  if call('LRANGE', key, position, position)[1] == ids[#ids] then
    return position + 1
  end
  local wanted = Ids.set(ids)
  for _, ahead in ipairs(SEARCH_AHEAD) do
    local first = max(0, position - ahead)
    local there = call('LRANGE', key, first, position + SEARCH_BEHIND)
    for at = #there, 1, -1 do
      if wanted[there[at]] then
        return first + at
      end
    end
  end
  return max(0, position - SEARCH_AHEAD[#SEARCH_AHEAD])
end

-- Each of the functions `of_…` reads the ids on a page, at most `most`. `start` contains an `offset`, or the place of the message after
-- which the page begins: `at`, its score or position, and `name`. Returns the ids, and a function that returns the place of the i-th id.

local function of_set(key, start, most)
  local first = start.name and Pages.place_behind(key, tonumber(start.at), start.name) or start.offset
  local rows, ids = call('ZRANGE', key, first, first + most - 1, 'WITHSCORES'), {}
  for at = 1, #rows, 2 do
    ids[#ids + 1] = rows[at]
  end
  return ids, function(number)
    return rows[number * 2] .. ':' .. rows[number * 2 - 1]
  end
end

-- The name of a place contains the last three ids, even those before the page, so that some are still in the list if an offer replaces one.
function Pages.of_list(key, start, most)
  local first = start.name and place_behind_listed(key, tonumber(start.at), Ids.of(start.name)) or start.offset
  local before = min(first, 2)
  local rows = call('LRANGE', key, first - before, first + most - 1)
  return { unpack(rows, before + 1) }, function(number)
    local last = before + number
    return format('%.0f:%s', first + number - 1, concat(rows, '\n', max(1, last - 2), last))
  end
end

-- How many groups to examine in one step, and the maximum number of steps, because many groups may have no backlog to list.
local GROUPS_AT_ONCE, MAX_STEPS = 100, 100

-- Appends messages of one backlog until the page is full. Returns how many were skipped.
local function append_backlog(q, page, name, start)
  local key = q.backlog .. name
  local length = call('LLEN', key)
  if not start.name and start.offset >= length then
    return length
  end
  local ids, place_at = Pages.of_list(key, start, page.most - #page.ids)
  for number, id in ipairs(ids) do
    page.ids[#page.ids + 1] = id
    page.places[#page.ids] = format('0:lines\n%s\n%s\n%s', page.cursor, name, place_at(number))
  end
  return start.offset or 0
end

-- Appends messages from backlogs, after `to_pass` others. `reached`: where the last page ended (cursor, group, place in backlog), or nil.
local function append_backlogs(q, page, reached, to_pass)
  local cursor, last_name, at, name = match(reached or '', '^(s?%d+)\n([^\n]*)\n(%d+):(.*)$')
  page.cursor = cursor or '0'
  for _ = 1, MAX_STEPS do
    local following, names = Groups.scan(q, page.cursor, GROUPS_AT_ONCE)
    local is_behind = true
    for _, group in ipairs(names) do
      is_behind = is_behind and group ~= last_name
    end
    for _, group in ipairs(names) do
      local is_last = group == last_name
      is_behind = is_behind or is_last
      if is_behind and #page.ids < page.most then
        to_pass = to_pass - append_backlog(q, page, group, is_last and { at = at, name = name } or { offset = to_pass })
      end
    end
    if #page.ids == page.most or following == '' then
      return
    end
    page.cursor, last_name = following, nil
  end
end

-- With groups, ready messages also wait in backlogs: pages list the ready ids first, then one backlog after another.
local function of_ready(q, start, most)
  if not q.permits then
    return Pages.of_list(q.ready, start, most)
  end
  local reached = match(start.name or '', '^lines\n(.*)$')
  local ids, place_in_list, length = {}, nil, call('LLEN', q.ready)
  if not reached then
    ids, place_in_list = Pages.of_list(q.ready, start, most)
  end
  local page, in_list = { ids = ids, places = {}, most = most }, #ids
  if in_list < most then
    append_backlogs(q, page, reached, start.name and 0 or max(0, start.offset - length))
  end
  return ids, function(number)
    return number <= in_list and place_in_list(number) or page.places[number]
  end
end

-- `state`: 'delayed', 'ready', 'dead' or 'handled'
function Pages.of_state(q, state, start, most)
  if state == 'ready' then
    return of_ready(q, start, most)
  end
  local ids, place_at = of_set(q[state], start, most)
  return state == 'delayed' and q.permits and (Record.read_members(ids)) or ids, place_at
end

-- The maximum number of bytes of records on a page. A single record may be larger.
Pages.MAX_BYTES = 1048576

-- Calls `visit` with each bucket of a hash, as a list of fields and values, until `visit` returns true or it has had roughly `size` fields or
-- a page's bytes of values. Returns the cursor of the next call (empty: there is no more). `cursor`: empty at first. HSCAN guarantees that a
-- field that exists throughout all calls is visited at least once.
function Pages.scan(key, cursor, size, visit)
  local count, bytes, is_full = 0, 0, false
  cursor = cursor == '' and '0' or cursor
  repeat
    -- One bucket at a time, because values may be as large as payloads.
    local following, part = unpack(call('HSCAN', key, cursor, 'COUNT', 1))
    for at = 2, #part, 2 do
      count, bytes = count + 1, bytes + #part[at]
    end
    cursor, is_full = following, visit(part)
  until is_full or cursor == '0' or count >= size or bytes >= Pages.MAX_BYTES
  return cursor == '0' and '' or cursor
end

-- A step through the records of many messages: it is full after 250 messages (about 0.7 ms) or 256 KiB of records.
function Pages.begin_step(messages)
  return { messages = messages, messages_left = 250, bytes_left = 262144 }
end

function Pages.is_full(step)
  return step.messages_left <= 0 or step.bytes_left <= 0
end

-- How many records a step reads at a time: few, because records are as large as their payloads.
local READ_AT_ONCE = 5

-- Calls `visit` with the record and id of each of these messages, until the step is full or, with `all`, to the end. Returns how many it has
-- looked for, including those without a record.
function Pages.visit(step, ids, visit, all)
  local count = 0
  while count < #ids and (all or not Pages.is_full(step)) do
    local last = min(count + READ_AT_ONCE, #ids)
    for i, record in ipairs(call('HMGET', step.messages, unpack(ids, count + 1, last))) do
      if record then
        visit(record, ids[count + i])
        step.bytes_left = step.bytes_left - #record
      end
    end
    step.messages_left, count = step.messages_left - (last - count), last
  end
  return count
end

-- Visits active messages by claim, in the order of tokens, after the claim `last_token` (empty: from the start). A claim is visited as a
-- whole; it has at most 1000 messages. Returns the token of the claim with which the step is full; nil if it is not.
function Pages.visit_claims(step, claims, last_token, visit)
  local tokens, held = Claims.sorted(claims)
  for _, token in ipairs(tokens) do
    if token > last_token then
      Pages.visit(step, Ids.of(held[token]), visit, true)
      if Pages.is_full(step) then
        return token
      end
    end
  end
  return nil
end

-- Returns the records of the first of these messages, at most `most` and as many as fit on a page; false for a message without one.
function Pages.read_records(messages, ids, most)
  return Ids.read_within(min(#ids, most), Pages.MAX_BYTES, function(first, last)
    return call('HMGET', messages, unpack(ids, first, last))
  end)
end

function Pages.append(reply, message)
  local last = #reply
  reply[last + 1], reply[last + 2], reply[last + 3] = message.id, message.record, message.failed
  reply[last + 4], reply[last + 5] = message.instant or 0, message.cause or false
end
