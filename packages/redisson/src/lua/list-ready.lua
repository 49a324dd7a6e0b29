#!lua flags=no-writes
-- Lists ready messages, page by page: those that a consumer here had before, then the values of the target list.
--
-- KEYS ready target timeouts offered values repeated messages attempts
-- ARGV at: text, as in native/list
--      name: text, as in native/list; for a value a line feed and the digests of the last three values
--      offset: number, as in native/list
--      limit: number, as in native/list
-- Returns the same as native/list; the id is empty for what Java offered, and its record says that it was offered and due now.
--
-- Atomic so that a page shows one instant. Writes nothing.
--@include native/clock
--@include native/record
--@include native/listed
--@include native/pages
--@include native/read-within
--@include offered
--@include find-offered

local known, waiting = redis.call('LLEN', keys.ready), redis.call('LLEN', keys.target)
local digests = string.match(args.name, '^\n(%x+)$')
local reply, count = { '' }, 0

-- How many values are searched for the one at the cursor.
local SEARCH_AHEAD = 1000

-- The position, from 0, behind the last of some values that followed each other, and where that one was. Consumers take values from
-- the head, so the others move towards it. If none is found, they have been taken: that is certain unless more were taken than are
-- searched.
local function place_behind_value(position)
  local wanted = {}
  for digest in string.gmatch(digests, string.rep('%x', 16)) do
    wanted[digest] = true
  end
  local last = math.min(position, waiting - 1)
  local ahead = read_within(math.min(last + 1, SEARCH_AHEAD), MOST_BYTES, function(from, to)
    local values, nearest_first = redis.call('LRANGE', keys.target, last - to + 1, last - from + 1), {}
    for at = #values, 1, -1 do
      nearest_first[#nearest_first + 1] = values[at]
    end
    return nearest_first
  end)
  for steps, value in ipairs(ahead) do
    if wanted[digest_of(value)] then
      return last - steps + 2
    end
  end
  return last + 1 - #ahead
end

-- Lists messages that a consumer here had before. Returns whether there are no more of them.
local function list_known()
  local start = args.name ~= '' and { at = args.at, name = args.name } or { offset = args.offset }
  local ids, place_at = page_of_list(keys.ready, start, args.limit + 1)
  local records = read_records(ids, args.limit)
  local failed = read_failed(ids, #records)
  for i, record in ipairs(records) do
    add_listed(reply, { id = ids[i], record = record, failed = failed[i] })
  end
  count = #records
  reply[1] = count > 0 and place_at(count) or ''
  return count == #ids
end

-- How many values before a page are searched for some that are equal to one on the page, for all of these together.
local SEARCH_BEFORE = 100000

-- How many values before a position are equal to each of those that repeat: the messages of these are on the pages before. False
-- if that would take too long.
local function count_before(values, first, now)
  local before, searched = {}, 0
  if first == 0 or redis.call('ZCARD', keys.repeated) == 0 then
    return before
  end
  for _, value in ipairs(values) do
    if before[value] == nil and #repeated_from(0, 1, value, now) > 0 then
      searched = searched + first
      before[value] = searched <= SEARCH_BEFORE and #redis.call('LPOS', keys.target, value, 'COUNT', 0, 'MAXLEN', first)
    end
  end
  return before
end

-- The place of the last of these values, the first of which is at a position. Some of its three digests are there even if an offer
-- replaces a message.
local function place_of_last(values, first)
  local before = first > 0 and #values < 3 and redis.call('LRANGE', keys.target, math.max(0, first - 2), first - 1) or {}
  local name = ''
  for _, some in ipairs({ before, { unpack(values, math.max(1, #values - 2)) } }) do
    for _, value in ipairs(some) do
      name = name .. digest_of(value)
    end
  end
  return string.format('%.0f:\n%s', first + #values - 1, string.sub(name, -48))
end

local function list_values(first, now)
  local values = read_within(math.min(args.limit - count, waiting - first), MOST_BYTES, function(from, to)
    return redis.call('LRANGE', keys.target, first + from - 1, first + to - 1)
  end)
  local found = find_offered(values, now, count_before(values, first, now))
  for i, value in ipairs(values) do
    local message = found[i]
    local record = message and string.sub(message.record, 1, 12) .. value or pack_record(now, now, value)
    add_listed(reply, { id = message and message.id or '', record = record, failed = 0 })
  end
  local behind = first + #values
  if behind == waiting then
    reply[1] = ''
  elseif #values > 0 then
    reply[1] = place_of_last(values, first)
  end
end

if digests then
  list_values(place_behind_value(tonumber(args.at)), (read_clock()))
elseif args.name == '' and args.offset >= known then
  list_values(math.min(args.offset - known, waiting), (read_clock()))
elseif list_known() then
  list_values(0, (read_clock()))
end
return reply
