-- Lists ready messages, page by page: those that a consumer here had before, then the values of the target list.
--
-- KEYS ready target timeouts offered values repeated messages attempts
-- ARGV at: text, as in list of the native layout
--      name: text, as in list of the native layout; for a value a line feed and the digests of the last three values
--      offset: number, as in list of the native layout
--      limit: number, as in list of the native layout
-- Returns the same as list of the native layout; the id is empty for what Java offered, and its record says that it was offered and due now.
--
-- Atomic so that a page shows one instant. Writes nothing.
local function run(keys, args)
  local q = {
    ready = keys[1], target = keys[2], timeouts = keys[3], offered = keys[4], values = keys[5], repeated = keys[6],
    messages = keys[7], attempts = keys[8],
  }
  local at, name, offset, limit = args[1], args[2], tonumber(args[3]), tonumber(args[4])
  local known, waiting = call('LLEN', q.ready), call('LLEN', q.target)
  local digests = match(name, '^\n(%x+)$')
  local reply, count = { '' }, 0

  -- How many values are searched for the one at the cursor.
  local SEARCH_AHEAD = 1000

  -- The position, from 0, behind the last of some values that followed each other, and where that one was. Consumers take values from
  -- the head, so the others move towards it. If none is found, they have been taken: that is certain unless more were taken than are
  -- searched.
  local function place_behind_value(position)
    local wanted = {}
    for digest in gmatch(digests, string.rep('%x', 16)) do
      wanted[digest] = true
    end
    local last = min(position, waiting - 1)
    local ahead = Ids.read_within(min(last + 1, SEARCH_AHEAD), Pages.MAX_BYTES, function(from, to)
      local values, nearest_first = call('LRANGE', q.target, last - to + 1, last - from + 1), {}
      for at = #values, 1, -1 do
        nearest_first[#nearest_first + 1] = values[at]
      end
      return nearest_first
    end)
    for steps, value in ipairs(ahead) do
      if wanted[Offered.digest_of(value)] then
        return last - steps + 2
      end
    end
    return last + 1 - #ahead
  end

  -- Lists messages that a consumer here had before. Returns whether there are no more of them.
  local function list_known()
    local start = name ~= '' and { at = at, name = name } or { offset = offset }
    local ids, place_at = Pages.of_list(q.ready, start, limit + 1)
    local records = Pages.read_records(q.messages, ids, limit)
    local failed = Claims.failed_attempts(q.attempts, ids, #records)
    for i, record in ipairs(records) do
      Pages.append(reply, { id = ids[i], record = record, failed = failed[i] })
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
    if first == 0 or call('ZCARD', q.repeated) == 0 then
      return before
    end
    for _, value in ipairs(values) do
      if before[value] == nil and #FindOffered.repeated_from(q, 0, 1, value, now) > 0 then
        searched = searched + first
        before[value] = searched <= SEARCH_BEFORE and #call('LPOS', q.target, value, 'COUNT', 0, 'MAXLEN', first)
      end
    end
    return before
  end

  -- The place of the last of these values, the first of which is at a position. Some of its three digests are there even if an offer
  -- replaces a message.
  local function place_of_last(values, first)
    local before = first > 0 and #values < 3 and call('LRANGE', q.target, max(0, first - 2), first - 1) or {}
    local name = ''
    for _, some in ipairs({ before, { unpack(values, max(1, #values - 2)) } }) do
      for _, value in ipairs(some) do
        name = name .. Offered.digest_of(value)
      end
    end
    return format('%.0f:\n%s', first + #values - 1, sub(name, -48))
  end

  local function list_values(first, now)
    local values = Ids.read_within(min(limit - count, waiting - first), Pages.MAX_BYTES, function(from, to)
      return call('LRANGE', q.target, first + from - 1, first + to - 1)
    end)
    local found = FindOffered.run(q, values, now, count_before(values, first, now))
    for i, value in ipairs(values) do
      local message = found[i]
      local record = message and sub(message.record, 1, 12) .. value or Record.pack(now, now, value)
      Pages.append(reply, { id = message and message.id or '', record = record, failed = 0 })
    end
    local behind = first + #values
    if behind == waiting then
      reply[1] = ''
    elseif #values > 0 then
      reply[1] = place_of_last(values, first)
    end
  end

  if digests then
    list_values(place_behind_value(tonumber(at)), (Clock.read()))
  elseif name == '' and offset >= known then
    list_values(min(offset - known, waiting), (Clock.read()))
  elseif list_known() then
    list_values(0, (Clock.read()))
  end
  return reply
end

register('list_ready', { 'no-writes' }, run)
