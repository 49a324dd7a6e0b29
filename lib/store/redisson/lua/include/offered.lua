-- Redisson's entries and values bear no message id. What was offered here has one, kept beside them until a consumer takes the
-- message:
--   offered   ZSET id → due ms; less 10¹⁵ once claims have passed it over
--   messages  HASH id → record, with the entry as its body
--   values    ZSET of digest of the value, due, id of the entry, id of the message → 0: the messages of each value, in the order
--             in which they fall due, as far as claims have passed them over
-- A consumer of Java's takes a value without a word; then what is kept here is forgotten later, see taken.lua.
--@include entry

local function entry_of(record)
  return string.sub(record, 13)
end

-- What the place of a message among those of its value begins with.
local function digest_of(value)
  return string.sub(redis.sha1hex(value), 1, 16)
end

-- The bytes of a place, before the id of the message.
local PLACE_BYTES = 30

-- The place of a message among those of its value; nil: its record holds no entry.
local function value_place(id, record)
  local entry = entry_of(record)
  local at, id_at = read_heads(entry)
  return at and digest_of(string.sub(entry, at)) .. string.sub(record, 1, 6) .. string.sub(entry, id_at, id_at + 7) .. id
end
