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

local function run(keys, args)
  local q = {
    delayed = keys[1], ready = keys[2], claims = keys[3], dead = keys[4], messages = keys[5], permits = keys[6], backlog = keys[7],
  }
  local cursor = args[1]
  local step = Pages.begin_step(q.messages)
  local reached, at, name = match(cursor, '^(%a+):([^:]*):(.*)$')
  local start, reply = { at = at, name = name, offset = 0 }, { '' }
  for _, state in ipairs({ 'delayed', 'ready', 'active', 'dead' }) do
    if not reached or reached == state then
      local counts, stop = {}, nil
      local function count(record)
        local found = body_type(record)
        counts[found] = (counts[found] or 0) + 1
      end
      if state == 'active' then
        local token = Pages.visit_claims(step, q.claims, start.name or '', count)
        stop = token and ':' .. token
      else
        local ids, place_at = Pages.of_state(q, state, start, step.messages_left)
        local last = Pages.visit(step, ids, count)
        stop = Pages.is_full(step) and place_at(last)
      end
      for found, number in pairs(counts) do
        local last = #reply
        reply[last + 1], reply[last + 2], reply[last + 3] = state, found, number
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
