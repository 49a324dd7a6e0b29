-- Where a walk goes on that reads a queue page by page: behind the last message of the page before, even if that one has moved.
--@include held
--@include set

-- Byte by byte, as Redis orders members. Lua's own comparison depends on the locale of the server.
local function comes_after(text, other)
  for at = 1, math.min(#text, #other) do
    local one, two = string.byte(text, at), string.byte(other, at)
    if one ~= two then
      return one > two
    end
  end
  return #text > #other
end

-- The position, from 0, of the first member of a sorted set that comes after a score and member; `bytes`: how many of the first
-- bytes of members are compared, if not all.
local function place_behind(key, score, member, bytes)
  local low, high = 0, redis.call('ZCARD', key)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local there = redis.call('ZRANGE', key, middle, middle, 'WITHSCORES')
    local found = tonumber(there[2])
    if found < score or (found == score and not comes_after(string.sub(there[1], 1, bytes or -1), member)) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- How many places towards the head of a list ids are searched for, and how many towards its tail.
local SEARCH_AHEAD = { 1000, 10000 }
local SEARCH_BEHIND = 1000

-- The position, from 0, behind the last of some ids that followed each other in a list; `position`: where that one was. Claims take
-- ids from the head, so the others move towards it; a few are released to the head, and push the others back. If none is found,
-- claims have taken them and all before them: that is certain unless they took more than 10000 since.
local function place_behind_listed(key, position, ids)
  if redis.call('LRANGE', key, position, position)[1] == ids[#ids] then
    return position + 1
  end
  local wanted = set_of(ids)
  for _, ahead in ipairs(SEARCH_AHEAD) do
    local first = math.max(0, position - ahead)
    local there = redis.call('LRANGE', key, first, position + SEARCH_BEHIND)
    for at = #there, 1, -1 do
      if wanted[there[at]] then
        return first + at
      end
    end
  end
  return math.max(0, position - SEARCH_AHEAD[#SEARCH_AHEAD])
end

-- Reads the ids on a page of a sorted set or a list, at most `most`. `start` has an `offset`, or the place of a message behind which
-- the page begins: `at`, its score or position, and `name`. Each function returns the ids, and a function that tells the place of
-- the id with a number.

local function page_of_set(key, start, most)
  local first = start.name and place_behind(key, tonumber(start.at), start.name) or start.offset
  local rows, ids = redis.call('ZRANGE', key, first, first + most - 1, 'WITHSCORES'), {}
  for at = 1, #rows, 2 do
    ids[#ids + 1] = rows[at]
  end
  return ids, function(number)
    return rows[number * 2] .. ':' .. rows[number * 2 - 1]
  end
end

-- The name of a place has the last three ids, also those before the page: some are there even if an offer replaces a message.
local function page_of_list(key, start, most)
  local first = start.name and place_behind_listed(key, tonumber(start.at), ids_held(start.name)) or start.offset
  local before = math.min(first, 2)
  local rows = redis.call('LRANGE', key, first - before, first + most - 1)
  return { unpack(rows, before + 1) }, function(number)
    local last = before + number
    return string.format('%.0f:%s', first + number - 1, table.concat(rows, '\n', math.max(1, last - 2), last))
  end
end
