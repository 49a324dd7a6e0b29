-- Finds the messages that belong to entries of Redisson's sorted set.

-- Of those with a value that repeats.
local function find_repeated(q, digest, due, entry)
  local place = Offered.place_of_entry(digest, pack('>I6', due), entry)
  local found = call('ZRANGE', q.repeated, '[' .. place, '(' .. place .. '\255', 'BYLEX', 'LIMIT', 0, 1)[1]
  local id = found and sub(found, Offered.PLACE_BYTES + 1)
  return id, id and call('HGET', q.offered, id)
end

-- Returns for each entry, by its position, its message: `id`, `record`; nil if Java offered it. `dues`: their scores.
function FindEntries.run(q, entries, dues)
  if #entries == 0 then
    return {}
  end
  local digests, fields, found = {}, {}, {}
  for i, entry in ipairs(entries) do
    digests[i] = Offered.digest_of(Entry.value(entry) or '')
  end
  local ids = call('HMGET', q.values, unpack(digests))
  for i, id in ipairs(ids) do
    fields[i] = id or ''
  end
  local records = call('HMGET', q.offered, unpack(fields))
  local repeats = call('ZCARD', q.repeated) > 0
  for i, entry in ipairs(entries) do
    local id, record = ids[i], records[i]
    if repeats and not (record and Offered.entry_of(record) == entry) and Entry.read_heads(entry) then
      id, record = find_repeated(q, digests[i], dues[i], entry)
    end
    if record and Offered.entry_of(record) == entry then
      found[i] = { id = id, record = record }
    end
  end
  return found
end
