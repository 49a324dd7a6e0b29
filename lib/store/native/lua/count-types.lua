-- Counts the messages of each type in each state, one page of the queue at a time.
--
-- KEYS delayed ready claims dead messages
--      | permits backlog
-- ARGV cursor: text, from the previous call, empty: the first page
-- Returns the next cursor (empty: this was the last page), then for each state and type on the page: state, type, number of messages.
--
-- A page has 250 messages (about 0.7 ms), but ends once it has read 256 KiB of records. A claim is counted as a whole; it has at most 1000
-- messages. Pages follow a message's life: delayed messages by due time, ready ones in the order of claims, active ones by claim, dead ones
-- by time of death. So a message that keeps its place is counted exactly once, and one that only moves forward is not missed.
--
-- Atomic so that a page shows one instant. Writes nothing.

local MAX_TYPE_BYTES = 64

-- Returns a message's type; empty if it has none, or if this script does not know the form of its body. `lib/message/codec/native-codec.ts`
-- parses the same forms; keep the two in step.
local function body_type(record)
  local at = Record.unwrapped_at(record, 13)
  for _, form in ipairs({ 'group', 'repeat', 'progress', 'retry', 'expires', 'encrypted' }) do
    local last = select(2, find(record, '^N' .. form .. '\n[^\n]*\n', at))
    at = last and last + 1 or at
  end
  local found = match(record, '^[KCkc]([A-Za-z0-9_.:-]+)\n', at)
  return found and #found <= MAX_TYPE_BYTES and found or ''
end

-- How many records to read at a time: few, because records are as large as their payloads.
local READ_AT_ONCE = 5

local function is_full(page)
  return page.messages_left <= 0 or page.bytes_left <= 0
end

-- Counts the first of these messages, until the page is full or, with `all`, to the end. Returns how many were counted.
local function count_first(page, ids, counts, all)
  local count = 0
  while count < #ids and (all or not is_full(page)) do
    local last = min(count + READ_AT_ONCE, #ids)
    for _, record in ipairs(call('HMGET', page.messages, unpack(ids, count + 1, last))) do
      if record then
        local found = body_type(record)
        counts[found] = (counts[found] or 0) + 1
        page.bytes_left = page.bytes_left - #record
      end
    end
    page.messages_left, count = page.messages_left - (last - count), last
  end
  return count
end

-- These functions count the messages of a state until the page is full. They return the place where it ends, or nil if it is not full.

local function walk(page, counts, ids, place_at)
  local count = count_first(page, ids, counts)
  return is_full(page) and place_at(count) or nil
end

local function walk_claims(page, counts, key, last_token)
  local tokens, held = Claims.sorted(key)
  for _, token in ipairs(tokens) do
    if not last_token or token > last_token then
      count_first(page, Ids.of(held[token]), counts, true)
      if is_full(page) then
        return ':' .. token
      end
    end
  end
  return nil
end

local function run(keys, args)
  local q = {
    delayed = keys[1], ready = keys[2], claims = keys[3], dead = keys[4], messages = keys[5], permits = keys[6], backlog = keys[7],
  }
  local cursor = args[1]
  local page = { messages = q.messages, messages_left = 250, bytes_left = 262144 }
  local reached, at, name = match(cursor, '^(%a+):([^:]*):(.*)$')
  local start, reply = { at = at, name = name, offset = 0 }, { '' }
  for _, state in ipairs({ 'delayed', 'ready', 'active', 'dead' }) do
    if not reached or reached == state then
      local counts, stop = {}, nil
      if state == 'active' then
        stop = walk_claims(page, counts, q.claims, start.name)
      elseif state == 'dead' then
        stop = walk(page, counts, Pages.of_set(q.dead, start, page.messages_left))
      else
        local read = state == 'ready' and Pages.of_ready or Pages.of_delayed
        stop = walk(page, counts, read(q, start, page.messages_left))
      end
      for found, count in pairs(counts) do
        local last = #reply
        reply[last + 1], reply[last + 2], reply[last + 3] = state, found, count
      end
      if stop then
        reply[1] = state .. ':' .. stop
        return reply
      end
      reached, start = nil, { offset = 0 }
    end
  end
  return reply
end

register('count_types', { 'no-writes' }, run)
