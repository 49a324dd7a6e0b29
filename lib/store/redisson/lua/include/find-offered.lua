-- Finds the messages that belong to values in the target list.
--
-- Values enter that list in the order in which they fall due, so messages are examined in this order: mostly the first ones are
-- the right ones. A value that Java offered belongs to none, which is certain only when all due messages have been examined. If
-- there are more than one call may examine, the ones that do not match are passed over: later calls find them by the digest of
-- their value.
--@include native/record
--@include entry
--@include offered

-- How many messages are examined beyond one for each value. Records are as large as their payloads.
local LOOK_FURTHER = 100

-- Added to the due time in the score of a message that claims have passed over, so that these come before all others.
local PASSED_OVER = -1e15

-- The due messages that no claim has passed over, earliest first: at most `most` of them, from position `place` (from 0) on.
local function due_offered(now, place, most)
  return redis.call('ZRANGE', keys.offered, 0, now, 'BYSCORE', 'LIMIT', place, most)
end

-- The ids of the messages with a value that claims have passed over, earliest due first, at most `most` of them.
local function passed_over(value, most)
  local start = digest_of(value)
  local ids = redis.call('ZRANGE', keys.values, '[' .. start, '(' .. start .. '\255', 'BYLEX', 'LIMIT', 0, most)
  for i, place in ipairs(ids) do
    ids[i] = string.sub(place, PLACE_BYTES + 1)
  end
  return ids
end

-- Assigns the messages that match a wanted value; returns the others.
local function sift(search, ids)
  local records = #ids > 0 and redis.call('HMGET', keys.messages, unpack(ids)) or {}
  local candidates, entries, others = {}, {}, {}
  for i, record in ipairs(records) do
    local entry = entry_of(record or '')
    local message = { id = ids[i], record = record, value = entry_value(entry) }
    if message.value and search.wanted[message.value] then
      candidates[#candidates + 1], entries[#entries + 1] = message, entry
    else
      others[#others + 1] = message
    end
  end

  local due_of = #entries > 0 and redis.call('ZMSCORE', keys.timeouts, unpack(entries))
  for i, message in ipairs(candidates) do
    local value = message.value
    if search.wanted[value] > 0 and not due_of[i] then
      search.wanted[value], search.missing = search.wanted[value] - 1, search.missing - 1
      table.insert(search.messages[value], message)
    else
      others[#others + 1] = message
    end
  end
  return others
end

-- The message of each value, by the value's position; nil if none is known.
local function assign(values, messages)
  local met, found = {}, {}
  for i, value in ipairs(values) do
    met[value] = (met[value] or 0) + 1
    found[i] = messages[value][met[value]]
  end
  return found
end

-- Returns `found`: for each value its message that was offered here, nil if Java offered it; `sure`: for how many values, from the
-- first on, that is certain; `passed`: the messages to be passed over.
local function find_offered(values, now)
  local search = { wanted = {}, messages = {}, missing = #values }
  for _, value in ipairs(values) do
    search.wanted[value] = (search.wanted[value] or 0) + 1
    search.messages[value] = search.messages[value] or {}
  end

  if redis.call('ZCARD', keys.values) > 0 then
    for value, most in pairs(search.wanted) do
      sift(search, passed_over(value, most))
      for _, message in ipairs(search.messages[value]) do
        message.place = value_place(message.id, message.record)
      end
    end
  end

  local looks, are_all, passed = 0, false, {}
  for _, most in ipairs({ #values, LOOK_FURTHER }) do
    if search.missing > 0 and not are_all then
      local ids = due_offered(now, looks, most)
      looks, are_all = looks + #ids, #ids < most
      for _, message in ipairs(sift(search, ids)) do
        table.insert(passed, message)
      end
    end
  end
  local found = assign(values, search.messages)
  if search.missing == 0 or are_all then
    return { found = found, sure = #values, passed = {} }
  end
  local sure = 0
  while found[sure + 1] do
    sure = sure + 1
  end
  return { found = found, sure = sure, passed = passed }
end

local function pass_over(passed)
  if #passed == 0 then
    return
  end
  local scores, places = {}, {}
  for _, message in ipairs(passed) do
    local place = message.value and value_place(message.id, message.record)
    scores[#scores + 1], scores[#scores + 2] = record_due(message.record) + PASSED_OVER, message.id
    if place then
      places[#places + 1], places[#places + 2] = 0, place
    end
  end
  redis.call('ZADD', keys.offered, unpack(scores))
  if #places > 0 then
    redis.call('ZADD', keys.values, unpack(places))
  end
end
