-- Redisson's entries and values contain no message id. For messages that were offered here, the id is kept beside them until a
-- consumer takes the message:
--   offered   ZSET id → due ms; minus 10¹⁵ once claims have passed it over
--   messages  HASH id → record, with the entry as its body
--   values    ZSET of digest of the value, due, id of the entry, id of the message → 0: the messages with each value that claims
--             have passed over, in the order in which they fall due
-- A Java consumer takes a value and leaves these as they are; they are forgotten later, see taken.lua.
--@include entry

local function entry_of(record)
  return string.sub(record, 13)
end

-- The beginning of the members of `values` for a value.
local function digest_of(value)
  return string.sub(redis.sha1hex(value), 1, 16)
end

-- The bytes of a member of `values` before the id of the message.
local PLACE_BYTES = 30

-- The member of `values` for a message; nil if its record contains no entry.
local function value_place(id, record)
  local entry = entry_of(record)
  local at, id_at = read_heads(entry)
  return at and digest_of(string.sub(entry, at)) .. string.sub(record, 1, 6) .. string.sub(entry, id_at, id_at + 7) .. id
end
