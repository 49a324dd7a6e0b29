-- Lists messages of one state, or those that the queue remembers, page by page.
--
-- KEYS delayed ready claims leases messages attempts dead errors handled history
--      | permits backlog
-- ARGV state: text, 'delayed', 'ready', 'active', 'dead' or 'handled'
--      at: text, score or position of the place where the previous page ended, empty: none
--      name: text, the rest of the place where the previous page ended, empty: start at the offset
--      offset: number, how many messages to skip
--      limit: number, maximum number of messages (1-1000)
-- Returns the place where the page ends (empty: this was the last page), then for each message: id, record (null: it is lost), failed
--      attempts, instant in ms (delayed: due; ready: 0; active: end of the lease; dead: time of death; handled: minus the time), error
--      (JSON; null unless dead). With groups, a delayed message's id follows its group and a line feed. For a handled message, the record
--      is what remember.lua has stored.
--
-- Delayed messages are sorted by due time, ready ones by position, active ones by claim and id, dead ones by time of death, handled ones
-- by time, newest first. A page has at most 1 MiB of records, but at least one message.
--
-- Atomic so that a page shows one instant. Writes nothing.

-- Sorts by token and id, because an order by lease would change with each extension, and positions in a claim change with outcomes.
local function page_of_claims(key, start, most)
  local tokens, held = Claims.sorted(key)
  local last_token, last_id = match(start.name or '', '^([^\n]*)\n(.*)$')
  local ids, holders, to_pass = {}, {}, start.offset or 0
  for _, token in ipairs(tokens) do
    if #ids < most and not (last_token and token < last_token) then
      local there = Ids.of(held[token])
      sort(there)
      for _, id in ipairs(there) do
        if to_pass > 0 then
          to_pass = to_pass - 1
        elseif token ~= last_token or id > last_id then
          ids[#ids + 1], holders[#holders + 1] = id, token
        end
      end
    end
  end
  return ids, function(number)
    return ':' .. holders[number] .. '\n' .. ids[number]
  end, holders
end

local function run(keys, args)
  local q = {
    delayed = keys[1], ready = keys[2], claims = keys[3], leases = keys[4], messages = keys[5], attempts = keys[6], dead = keys[7],
    errors = keys[8], handled = keys[9], history = keys[10], permits = keys[11], backlog = keys[12],
  }
  local state, at, name, offset, limit = args[1], args[2], args[3], tonumber(args[4]), tonumber(args[5])
  local start = name ~= '' and { at = at, name = name } or { offset = offset }
  -- One extra, to know whether another page follows.
  local most = limit + 1
  local ids, place_at, holders
  if state == 'active' then
    ids, place_at, holders = page_of_claims(q.claims, start, most)
  else
    ids, place_at = Pages.of_state(q, state, start, most)
  end
  local records = Pages.read_records(state == 'handled' and q.history or q.messages, ids, limit)
  local count = #records
  local failed = Claims.failed_attempts(q.attempts, ids, count)
  local causes = state == 'dead' and count > 0 and call('HMGET', q.errors, unpack(ids, 1, count)) or {}
  local reply = { count < #ids and place_at(count) or '' }
  for i = 1, count do
    local instant, called = 0, ids[i]
    if state == 'delayed' and q.permits then
      -- As a string, because a number would lose the fraction that keeps messages in order.
      instant, called = match(place_at(i), '^([^:]*):(.*)$')
    elseif state == 'dead' or state == 'delayed' or state == 'handled' then
      instant = tonumber(match(place_at(i), '^[^:]*'))
    elseif holders then
      instant = tonumber(call('ZSCORE', q.leases, holders[i]) or 0)
    end
    Pages.append(reply, { id = called, record = records[i], failed = failed[i], instant = instant, cause = causes[i] })
  end
  return reply
end

register('list', { 'no-writes' }, run)
