#!lua flags=no-writes
-- Lists messages of one state, page by page.
--
-- KEYS delayed ready claims leases messages attempts dead errors
--@with lanes --      lanes line
-- ARGV state: text, 'delayed', 'ready', 'active' or 'dead'
--      at: text, score or position in the place where the previous page ended, empty: none
--      name: text, the rest of that place, empty: start at the offset
--      offset: number, how many messages to pass over
--      limit: number, maximum number of messages (1-1000)
-- Returns the place where the page ends (empty: this was the last page), then for each message: id, record (null: it is lost),
--      failed attempts, instant in ms (delayed: due; ready: 0; active: end of the lease; dead: time of death), error (JSON; null
--      unless dead).
--@with lanes --      The id of a delayed message comes behind its group and a line feed.
--
-- In the order of due times, of the line, of claims and then ids, or of times of death. A page has at most 1 MiB of records, but one
-- message at least.
--
-- Atomic so that a page shows one instant. Writes nothing.
--@include held
--@include listed
--@include pages
--@with lanes --@include line-pages

local page_of_due, page_of_line = page_of_set, page_of_list
--@with lanes page_of_due, page_of_line = page_of_delayed, page_of_ready
local start = args.name ~= '' and { at = args.at, name = args.name } or { offset = args.offset }
-- One more, to know whether another page follows.
local most = args.limit + 1

-- By token and id: leases change their order, and outcomes the positions in a claim.
local function page_of_claims()
  local all, held, tokens = redis.call('HGETALL', keys.claims), {}, {}
  for at = 1, #all, 2 do
    tokens[#tokens + 1], held[all[at]] = all[at], all[at + 1]
  end
  table.sort(tokens)
  local last_token, last_id = string.match(start.name or '', '^([^\n]*)\n(.*)$')
  local ids, holders, to_pass = {}, {}, start.offset or 0
  for _, token in ipairs(tokens) do
    if #ids < most and not (last_token and token < last_token) then
      local there = ids_held(held[token])
      table.sort(there)
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

local function read_page()
  if args.state == 'ready' then
    return page_of_line(keys.ready, start, most)
  elseif args.state == 'active' then
    return page_of_claims()
  elseif args.state == 'delayed' then
    return page_of_due(keys.delayed, start, most)
  end
  return page_of_set(keys.dead, start, most)
end

local ids, place_at, holders = read_page()
local records = read_records(ids, args.limit)
local count = #records
local failed = read_failed(ids, count)
local causes = args.state == 'dead' and count > 0 and redis.call('HMGET', keys.errors, unpack(ids, 1, count)) or {}
local reply = { count < #ids and place_at(count) or '' }
for i = 1, count do
  local instant, name = 0, ids[i]
  if args.state == 'dead' or args.state == 'delayed' then
    instant = tonumber(string.match(place_at(i), '^[^:]*'))
    --@with lanes -- As text, because a number would lose the fraction that keeps messages in order.
    --@with lanes instant, name = string.match(place_at(i), '^([^:]*):(.*)$')
  elseif holders then
    instant = tonumber(redis.call('ZSCORE', keys.leases, holders[i]) or 0)
  end
  add_listed(reply, { id = name, record = records[i], failed = failed[i], instant = instant, cause = causes[i] })
end
return reply
