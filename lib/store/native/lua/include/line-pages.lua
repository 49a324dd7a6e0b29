-- Reads pages where messages have groups. Of ready messages, some wait in the lines of their groups: first comes the list of ready ids, then
-- one line after the other.
--@include groups
--@include pages

-- As page_of_set of include/pages.lua.
local function page_of_delayed(key, start, most)
  local members, place_at = page_of_set(key, start, most)
  local ids = read_members(members)
  return ids, place_at
end

-- How many lanes are looked at in one step, and in how many steps at most: those without a line have nothing to list.
local LANES_AT_ONCE, MOST_STEPS = 100, 100

-- Appends messages of one line, until there are `most`. Returns how many were passed over.
local function append_line(page, group, start)
  local line = keys.line .. group
  local length = redis.call('LLEN', line)
  if not start.name and start.offset >= length then
    return length
  end
  local ids, place_at = page_of_list(line, start, page.most - #page.ids)
  for number, id in ipairs(ids) do
    page.ids[#page.ids + 1] = id
    page.places[#page.ids] = string.format('0:lines\n%s\n%s\n%s', page.cursor, group, place_at(number))
  end
  return start.offset or 0
end

-- Appends messages that wait in lines. `reached`: where the page before has ended: a cursor, a group, and a place in its line; nil: nowhere.
local function append_lines(page, reached, to_pass)
  local cursor, last_group, at, name = string.match(reached or '', '^(%d+)\n([^\n]*)\n(%d+):(.*)$')
  page.cursor = cursor or '0'
  for _ = 1, MOST_STEPS do
    local following, part = unpack(redis.call('HSCAN', keys.lanes, page.cursor, 'COUNT', LANES_AT_ONCE))
    local is_behind = true
    for i = 1, #part, 2 do
      is_behind = is_behind and part[i] ~= last_group
    end
    for i = 1, #part, 2 do
      local is_last = part[i] == last_group
      is_behind = is_behind or is_last
      if is_behind and #page.ids < page.most then
        to_pass = to_pass - append_line(page, part[i], is_last and { at = at, name = name } or { offset = to_pass })
      end
    end
    if #page.ids == page.most or following == '0' then
      return
    end
    page.cursor, last_group = following, nil
  end
end

-- As page_of_list of include/pages.lua.
local function page_of_ready(key, start, most)
  local reached = string.match(start.name or '', '^lines\n(.*)$')
  local ids, place_in_list, length = {}, nil, redis.call('LLEN', key)
  if not reached then
    ids, place_in_list = page_of_list(key, start, most)
  end
  local page, in_list = { ids = ids, places = {}, most = most }, #ids
  if in_list < most then
    append_lines(page, reached, start.name and 0 or math.max(0, start.offset - length))
  end
  return ids, function(number)
    return number <= in_list and place_in_list(number) or page.places[number]
  end
end
