-- Finds the messages that belong to entries of Redisson's sorted set.
--@include entry
--@include offered

-- Of those with a value that repeats.
local function find_repeated(digest, due, entry)
  local place = place_of_entry(digest, struct.pack('>I6', due), entry)
  local found = redis.call('ZRANGE', keys.repeated, '[' .. place, '(' .. place .. '\255', 'BYLEX', 'LIMIT', 0, 1)[1]
  local id = found and string.sub(found, PLACE_BYTES + 1)
  return id, id and redis.call('HGET', keys.offered, id)
end

-- Returns for each entry, by its position, its message: `id`, `record`; nil if Java offered it. `dues`: their scores.
local function find_entries(entries, dues)
  if #entries == 0 then
    return {}
  end
  local digests, fields, found = {}, {}, {}
  for i, entry in ipairs(entries) do
    digests[i] = digest_of(entry_value(entry) or '')
  end
  local ids = redis.call('HMGET', keys.values, unpack(digests))
  for i, id in ipairs(ids) do
    fields[i] = id or ''
  end
  local records = redis.call('HMGET', keys.offered, unpack(fields))
  local repeats = redis.call('ZCARD', keys.repeated) > 0
  for i, entry in ipairs(entries) do
    local id, record = ids[i], records[i]
    if repeats and not (record and entry_of(record) == entry) and read_heads(entry) then
      id, record = find_repeated(digests[i], dues[i], entry)
    end
    if record and entry_of(record) == entry then
      found[i] = { id = id, record = record }
    end
  end
  return found
end
