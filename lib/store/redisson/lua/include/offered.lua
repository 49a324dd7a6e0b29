-- Redisson's entries and values bear no message id. What was offered here has one, kept beside them until a consumer takes the
-- message:
--   offered   ZSET id → due ms
--   messages  HASH id → record, with the entry as its body
--   values    ZSET of digest of the value, due, id of the entry, id of the message → 0: the messages of each value, in the order
--             in which they fall due
-- A consumer of Java's takes a value without a word; then what is kept here is forgotten later, see taken.lua.

local function digest_of(value)
  return string.sub(redis.sha1hex(value), 1, 16)
end

local function entry_of(record)
  return string.sub(record, 13)
end

-- What the place of a message among those of its value begins with; nil: it is no entry.
local function value_place(entry, due)
  local at, id_at = read_heads(entry)
  return at and digest_of(string.sub(entry, at)) .. struct.pack('>I6', due) .. string.sub(entry, id_at, id_at + 7)
end

-- The bytes of a place, before the id of the message.
local PLACE_BYTES = 30

-- The ids of the messages in the places that begin with `start`, `most` at most.
local function ids_in_places(values, start, most)
  local ids = redis.call('ZRANGE', values, '[' .. start, '(' .. start .. '\255', 'BYLEX', 'LIMIT', 0, most)
  for i, place in ipairs(ids) do
    ids[i] = string.sub(place, PLACE_BYTES + 1)
  end
  return ids
end

local function forget_offered(keys, id, record)
  local place = value_place(entry_of(record), record_due(record))
  redis.call('ZREM', keys.offered, id)
  redis.call('HDEL', keys.messages, id)
  if place then
    redis.call('ZREM', keys.values, place .. id)
  end
end

-- Where a message is that was offered here: 'delayed', 'ready', or 'taken' by a consumer of Java's.
local function offered_state(keys, entry, value)
  if redis.call('ZSCORE', keys.timeouts, entry) then
    return 'delayed'
  end
  return redis.call('LPOS', keys.target, value) and 'ready' or 'taken'
end
