-- Lists delayed messages, page by page: the entries of Redisson's and the messages that wait for another attempt, as one.
--
-- KEYS timeouts delayed offered values repeated messages attempts
-- ARGV at: text, as in list of the native layout
--      name: text, as in list of the native layout; for an entry a line feed and the beginning of the entry in hexadecimal digits
--      offset: number, as in list of the native layout
--      limit: number, as in list of the native layout
-- Returns the same as list of the native layout; the id is empty for what Java offered, and its record says that it was offered now.
--
-- Atomic so that a page shows one instant. Writes nothing.
local function run(keys, args)
  local q = {
    timeouts = keys[1], delayed = keys[2], offered = keys[3], values = keys[4], repeated = keys[5], messages = keys[6],
    attempts = keys[7],
  }
  local at, name, offset, limit = args[1], args[2], tonumber(args[3]), tonumber(args[4])
  local entries_count, others_count = call('ZCARD', q.timeouts), call('ZCARD', q.delayed)

  local function score_at(key, position)
    return tonumber(call('ZRANGE', key, position, position, 'WITHSCORES')[2])
  end

  -- How many of the first `offset` messages are entries. Of those due at the same instant, entries come first.
  local function entries_among(offset)
    local low, high = max(0, offset - others_count), min(offset, entries_count)
    while low < high do
      local middle = floor((low + high) / 2)
      if score_at(q.timeouts, middle) <= score_at(q.delayed, offset - middle - 1) then
        low = middle + 1
      else
        high = middle
      end
    end
    return low
  end

  -- An entry contains a payload, so its place has only its head, which makes it unique.
  local HEAD_BYTES = 17

  local function head_of(entry)
    return (string.gsub(sub(entry, 1, HEAD_BYTES), '.', function(char)
      return format('%02x', byte(char))
    end))
  end

  local function read_head(digits)
    return (string.gsub(digits, '(%x%x)', function(pair)
      return string.char(tonumber(pair, 16))
    end))
  end

  -- The positions of the first entry and of the first other message on the page.
  local function page_start()
    if name == '' then
      local offset = min(offset, entries_count + others_count)
      local entries = entries_among(offset)
      return entries, offset - entries
    end
    local digits = match(name, '^\n(%x*)$')
    if digits then
      local score = tonumber(at)
      return Pages.place_behind(q.timeouts, score, read_head(digits), HEAD_BYTES), Pages.place_behind(q.delayed, score, '')
    end
    return call('ZCOUNT', q.timeouts, '-inf', at), Pages.place_behind(q.delayed, tonumber(at), name)
  end

  -- The entries from a position on, as far as they fit on a page.
  local function read_entries(first)
    local dues = {}
    local entries = Ids.read_within(min(limit, entries_count - first), Pages.MAX_BYTES, function(from, to)
      local rows, part = call('ZRANGE', q.timeouts, first + from - 1, first + to - 1, 'WITHSCORES'), {}
      for at = 1, #rows, 2 do
        part[#part + 1], dues[from + #part] = rows[at], tonumber(rows[at + 1])
      end
      return part
    end)
    return entries, dues
  end

  -- The messages of these entries.
  local function identify(entries, dues, now)
    local messages, found = {}, FindEntries.run(q, entries, dues)
    for i, entry in ipairs(entries) do
      local value, message = Entry.value(entry) or entry, found[i]
      messages[i] = {
        id = message and message.id or '', due = dues[i], failed = 0, entry = entry,
        record = message and sub(message.record, 1, 12) .. value or Record.pack(dues[i], now, value),
      }
    end
    return messages
  end

  -- The messages that wait for another attempt, from a position on, as far as they fit on a page.
  local function read_others(first)
    local rows, ids, messages = call('ZRANGE', q.delayed, first, first + limit - 1, 'WITHSCORES'), {}, {}
    for at = 1, #rows, 2 do
      ids[#ids + 1] = rows[at]
    end
    local records = Pages.read_records(q.messages, ids, limit)
    local failed = Claims.failed_attempts(q.attempts, ids, #records)
    for i, record in ipairs(records) do
      messages[i] = { id = ids[i], due = tonumber(rows[2 * i]), failed = failed[i], record = record }
    end
    return messages
  end

  local first_entry, first_other = page_start()
  local entries, dues = read_entries(first_entry)
  local mine, others = identify(entries, dues, (Clock.read())), read_others(first_other)
  local reply, last, bytes = { '' }, nil, 0
  local i, j, count = 1, 1, 0
  while count < limit do
    local entry, other = mine[i], others[j]
    -- Behind what has been read of one of them, the order is not known.
    if (not entry and first_entry + i - 1 < entries_count) or (not other and first_other + j - 1 < others_count) then
      break
    end
    local message = entry and (not other or entry.due <= other.due) and entry or other
    bytes = bytes + (message and message.record and #message.record or 0)
    if not message or (bytes > Pages.MAX_BYTES and count > 0) then
      break
    end
    Pages.append(reply, message)
    count, last = count + 1, message
    if message == entry then
      i = i + 1
    else
      j = j + 1
    end
  end
  if last and first_entry + i + first_other + j - 2 < entries_count + others_count then
    reply[1] = format('%.17g:%s', last.due, last.entry and '\n' .. head_of(last.entry) or last.id)
  end
  return reply
end

register('list_delayed', { 'no-writes' }, run)
