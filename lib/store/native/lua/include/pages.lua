-- Reads the ids on a page of a sorted set or a list, at most `most`. `start` has an `offset`, or the place of a message behind which
-- the page begins: `at`, its score or position, and `name`. Each function returns the ids, and a function that tells the place of
-- the id with a number.
--@include held
--@include places

local function page_of_set(key, start, most)
  local first = start.name and place_behind(key, tonumber(start.at), start.name) or start.offset
  local rows, ids = redis.call('ZRANGE', key, first, first + most - 1, 'WITHSCORES'), {}
  for at = 1, #rows, 2 do
    ids[#ids + 1] = rows[at]
  end
  return ids, function(number)
    return rows[number * 2] .. ':' .. ids[number]
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
