-- Finds the messages that were offered here among those on a page, which shows their entries or values. What Java offered has no
-- id. Since both are in the order of due times, only a few messages are examined; if many are due in the same millisecond, or Java
-- took many, the right one may not be among them.
--@include native/listed
--@include native/read-within

-- How many messages are examined before and behind those that ought to be the right ones: other clients' come in between.
local LOOK_AROUND = 100

-- Adds the messages at these positions among those offered here, from 0, to a list.
local function add_offered(messages, first, last)
  local ids = first <= last and redis.call('ZRANGE', keys.offered, first, last) or {}
  local records = read_within(#ids, 2 * MOST_BYTES, function(from, to)
    return redis.call('HMGET', keys.messages, unpack(ids, from, to))
  end)
  for i, record in ipairs(records) do
    if record then
      messages[#messages + 1] = { id = ids[i], record = record }
    end
  end
end

-- The messages offered here that may be the `count` ones from position `first` on; the most likely ones come first.
local function offered_around(first, count)
  local messages = {}
  add_offered(messages, first, first + count + LOOK_AROUND - 1)
  add_offered(messages, math.max(0, first - LOOK_AROUND), first - 1)
  return messages
end
