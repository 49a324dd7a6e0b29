-- Reads pages of ready messages where some of them wait in the lines of their groups: first the list of ready ids, then one line after
-- the other.
--@include pages

-- How many lanes are looked at in one step, and in how many steps at most: those without a line have nothing to list.
local LANES_AT_ONCE, MOST_STEPS = 100, 100

-- Appends messages of one line from a place on, until there are `most`. Returns how many were passed over.
local function append_line(page, lane, from, to_pass)
  local group, behind, passed = lane.group, lane.behind, 0
  for first = from, behind - 1, LANES_AT_ONCE do
    local names = {}
    for place = first, math.min(first + LANES_AT_ONCE, behind) - 1 do
      names[#names + 1] = string.format('%s\n%d', group, place)
    end
    for i, id in ipairs(redis.call('HMGET', keys.lines, unpack(names))) do
      if id and passed < to_pass then
        passed = passed + 1
      elseif id and #page.ids < page.most then
        page.ids[#page.ids + 1] = id
        page.places[#page.ids] = string.format('0:lines\n%s\n%s', page.cursor, names[i])
      end
    end
    if #page.ids == page.most then
      break
    end
  end
  return passed
end

-- Appends messages that wait in lines. `reached`: where the page before has ended: a cursor, group and place; nil: nowhere.
local function append_lines(page, reached, to_pass)
  local cursor, last_group, last_place = string.match(reached or '', '^(%d+)\n([^\n]*)\n(%d+)$')
  page.cursor = cursor or '0'
  for _ = 1, MOST_STEPS do
    local following, part = unpack(redis.call('HSCAN', keys.lanes, page.cursor, 'COUNT', LANES_AT_ONCE))
    local is_behind = true
    for at = 1, #part, 2 do
      is_behind = is_behind and part[at] ~= last_group
    end
    for at = 1, #part, 2 do
      local group, from = part[at], 0
      if group == last_group then
        is_behind, from = true, last_place + 1
      end
      if is_behind and #part[at + 1] == 20 and #page.ids < page.most then
        local _, _, first, behind = struct.unpack('>I4I4I6I6', part[at + 1])
        to_pass = to_pass - append_line(page, { group = group, behind = behind }, math.max(first, from), to_pass)
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
  if in_list < most and redis.call('HLEN', keys.lines) > 0 then
    append_lines(page, reached, start.name and 0 or math.max(0, start.offset - length))
  end
  return ids, function(number)
    return number <= in_list and place_in_list(number) or page.places[number]
  end
end
