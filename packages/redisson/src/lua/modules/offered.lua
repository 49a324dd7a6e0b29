-- Redisson's entries and values contain no message id. For messages that were offered here, the id is kept beside them until a
-- consumer takes the message:
--   offered   HASH id → record, with the entry as its body
--   values    HASH digest of the value → id
--   repeated  ZSET of digest of the value, due, id of the entry, id of the message → 0: the messages whose digest was in `values`
--             already when they were offered, those with the same value in the order in which they fall due
-- So an offer pays for no sorted set besides Redisson's unless its value repeats. A Java consumer takes a value and leaves these as
-- they are; they are forgotten later, see taken.lua.

function Offered.entry_of(record)
  return sub(record, 13)
end

-- What callers send with the value of an offer, too.
function Offered.digest_of(value)
  return sub(sha1hex(value), 1, 16)
end

-- The bytes of a member of `repeated` before the id of the message.
Offered.PLACE_BYTES = 30

-- The beginning of the member of `repeated` for an entry; `due`: six bytes.
function Offered.place_of_entry(digest, due, entry)
  local _, id_at = Entry.read_heads(entry)
  return digest .. due .. sub(entry, id_at, id_at + 7)
end

-- The member of `repeated` for a message.
function Offered.place_of(digest, id, record)
  return Offered.place_of_entry(digest, sub(record, 1, 6), Offered.entry_of(record)) .. id
end
