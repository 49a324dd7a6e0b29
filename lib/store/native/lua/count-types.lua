#!lua flags=no-writes
-- Counts the messages of each type in each state, one page of the queue at a time.
--
-- KEYS delayed ready claims dead messages
--@with lanes --      lanes line
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
--@include held
--@include pages
--@with lanes --@include line-pages

-- The type of a message, read from the first line of its body: the only part of a body that a script looks at. It is what
-- `lib/message/codec/native-codec.ts` reads.

local LONGEST_TYPE = 64

-- Empty: the message has none, or its body is in a form that is not known here.
local function body_type(record)
  local at, wrapped = 13, nil
  repeat
    wrapped = select(2, string.find(record, '^W%d+\n', at))
    at = wrapped and wrapped + 1 or at
  until not wrapped
  --@with lanes local grouped = select(2, string.find(record, '^Ngroup\n[^\n]*\n', at))
  --@with lanes at = grouped and grouped + 1 or at
  for _, form in ipairs({ 'repeat', 'expires' }) do
    local last = select(2, string.find(record, '^N' .. form .. '\n[^\n]*\n', at))
    at = last and last + 1 or at
  end
  local found = string.match(record, '^[KCkc]([A-Za-z0-9_.:-]+)\n', at)
  return found and #found <= LONGEST_TYPE and found or ''
end

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

-- Counts the first of these messages, until the page is full; or all of them. Returns how many.
local function count_first(ids, counts, all)
  local count = 0
  while count < #ids and (all or not is_full()) do
    local last = math.min(count + READ_AT_ONCE, #ids)
    count_types(ids, count + 1, last, counts)
    count = last
  end
  return count
end

-- These go through a state until the page is full, from the place of a message on if one is given. They return the place where
-- the page ends; nil if it has room left.

local function walk(state, counts, start)
  local ids, place_at = state.page(state.key, start, messages_left)
  local count = count_first(ids, counts)
  return is_full() and place_at(count) or nil
end

-- By token, because leases change their order.
local function walk_claims(state, counts, start)
  local last_token = start.name
  local all, held, tokens = redis.call('HGETALL', state.key), {}, {}
  for at = 1, #all, 2 do
    if not last_token or all[at] > last_token then
      tokens[#tokens + 1], held[all[at]] = all[at], all[at + 1]
    end
  end
  table.sort(tokens)
  for _, token in ipairs(tokens) do
    count_first(ids_held(held[token]), counts, true)
    if is_full() then
      return ':' .. token
    end
  end
  return nil
end

local page_of_due, page_of_line = page_of_set, page_of_list
--@with lanes page_of_due, page_of_line = page_of_delayed, page_of_ready
local STATES = {
  { name = 'delayed', key = keys.delayed, walk = walk, page = page_of_due },
  { name = 'ready', key = keys.ready, walk = walk, page = page_of_line },
  { name = 'active', key = keys.claims, walk = walk_claims },
  { name = 'dead', key = keys.dead, walk = walk, page = page_of_set },
}

local reached, at, name = string.match(args.cursor, '^(%a+):([^:]*):(.*)$')
local start = { at = at, name = name, offset = 0 }
local reply = { '' }
for _, state in ipairs(STATES) do
  if not reached or reached == state.name then
    local counts = {}
    local stop = state.walk(state, counts, start)
    for found, count in pairs(counts) do
      local last = #reply
      reply[last + 1], reply[last + 2], reply[last + 3] = state.name, found, count
    end
    if stop then
      reply[1] = state.name .. ':' .. stop
      return reply
    end
    reached, start = nil, { offset = 0 }
  end
end
return reply
