#!lua flags=no-writes
-- Counts the messages of each type in each state, one page of the queue at a time.
--
-- KEYS delayed ready claims dead messages
-- ARGV cursor: text, from the previous call, empty: the first page
-- Returns the next cursor (empty: this was the last page), then for each state and type on the page: state, type, number of
--      messages.
--
-- A page has 250 messages (about 0.7 ms), and ends early once it has read 256 KiB of records. A claim is counted as a whole, and
-- has 1000 messages at most.
-- Pages follow the way of a message: the delayed ones by due time, the ready ones by their place in the line, the active ones by
-- claim, the dead ones by time of death. So a message that keeps its place is counted exactly once, whatever happens to others,
-- and a message that only goes on is not missed.
--
-- Atomic so that a page shows one instant. Writes nothing.
--@include body-type
--@include held
--@include places

local messages_left, bytes_left = 250, 262144

-- Few, because records are as large as their payloads.
local READ_AT_ONCE = 5

local function is_full()
  return messages_left <= 0 or bytes_left <= 0
end

local function count_types(ids, first, last, counts)
  for _, record in ipairs(redis.call('HMGET', keys.messages, unpack(ids, first, last))) do
    if record then
      local found = body_type(record)
      counts[found] = (counts[found] or 0) + 1
      bytes_left = bytes_left - #record
    end
  end
  messages_left = messages_left - (last - first + 1)
end

-- Counts the first of these messages, until the page is full. Returns how many.
local function count_first(ids, counts)
  local count = 0
  while count < #ids and not is_full() do
    local last = math.min(count + READ_AT_ONCE, #ids)
    count_types(ids, count + 1, last, counts)
    count = last
  end
  return count
end

local function count_all(ids, counts)
  for first = 1, #ids, READ_AT_ONCE do
    count_types(ids, first, math.min(first + READ_AT_ONCE - 1, #ids), counts)
  end
end

-- These go through a state until the page is full, from the place of a message on if one is given. They return the place where
-- the page ends; nil if it has room left.

local function walk_set(key, counts, score, member)
  local first = member and place_behind(key, tonumber(score), member) or 0
  local rows = redis.call('ZRANGE', key, first, first + messages_left - 1, 'WITHSCORES')
  local ids = {}
  for at = 1, #rows, 2 do
    ids[#ids + 1] = rows[at]
  end
  local count = count_first(ids, counts)
  return is_full() and rows[count * 2] .. ':' .. ids[count] or nil
end

-- Of the last three ids, some are there even if an offer replaces a ready message meanwhile.
local function walk_list(key, counts, position, last_ids)
  local first = last_ids and place_behind_listed(key, tonumber(position), ids_held(last_ids)) or 0
  local ids = redis.call('LRANGE', key, first, first + messages_left - 1)
  local count = count_first(ids, counts)
  if not is_full() then
    return nil
  end
  return string.format('%d:%s', first + count - 1, table.concat(ids, '\n', math.max(1, count - 2), count))
end

-- By token, because leases change their order.
local function walk_claims(key, counts, _, last_token)
  local all, held, tokens = redis.call('HGETALL', key), {}, {}
  for at = 1, #all, 2 do
    if not last_token or all[at] > last_token then
      tokens[#tokens + 1], held[all[at]] = all[at], all[at + 1]
    end
  end
  table.sort(tokens)
  for _, token in ipairs(tokens) do
    count_all(ids_held(held[token]), counts)
    if is_full() then
      return ':' .. token
    end
  end
  return nil
end

local STATES = {
  { name = 'delayed', key = keys.delayed, walk = walk_set },
  { name = 'ready', key = keys.ready, walk = walk_list },
  { name = 'active', key = keys.claims, walk = walk_claims },
  { name = 'dead', key = keys.dead, walk = walk_set },
}

local reached, place, id = string.match(args.cursor, '^(%a+):([^:]*):(.*)$')
local reply = { '' }
for _, state in ipairs(STATES) do
  if not reached or reached == state.name then
    local counts = {}
    local stop = state.walk(state.key, counts, place, id)
    for found, count in pairs(counts) do
      local at = #reply
      reply[at + 1], reply[at + 2], reply[at + 3] = state.name, found, count
    end
    if stop then
      reply[1] = state.name .. ':' .. stop
      return reply
    end
    reached, place, id = nil, nil, nil
  end
end
return reply
