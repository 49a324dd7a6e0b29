-- An entry of Redisson's delayed queue: something that makes it unique, the length of the value, the value. Little-endian.
--   Bc0Lc0  (3.21.1 and later)  1 byte: length of the id; the id; 8 bytes: length of the value; the value
--   dLc0    (before)            8 bytes: a double; 8 bytes: length of the value; the value
--
-- The id, or double, of entries written here is a sequence number, big-endian, so that messages due in the same millisecond keep
-- the order of their offers, and so that an entry's position in the list of entries can be found without a linear search.

function Entry.pack(format, sequence, value)
  local head = format == 'dLc0' and pack('>I8<I8', sequence, #value) or pack('>BI8<I8', 8, sequence, #value)
  return head .. value
end

-- Whether exactly the length of the value is left after the first `head` bytes.
local function adds_up(entry, head)
  local size = #entry
  return size >= head and unpack_bytes('<I8', entry, head - 7) == size - head
end

-- Where the value begins, and where the id; nil if it is not an entry. Some bytes fit both formats; they count as an entry with
-- an id of 8 bytes, which is what Redisson writes.
function Entry.read_heads(entry)
  local id_bytes = byte(entry)
  if id_bytes == 8 and adds_up(entry, 17) then
    return 18, 2
  elseif adds_up(entry, 16) then
    return 17, 1
  elseif id_bytes and adds_up(entry, 9 + id_bytes) then
    return 10 + id_bytes, 2
  end
  return nil
end

-- The value; nil if it is not an entry.
function Entry.value(entry)
  local at = Entry.read_heads(entry)
  return at and sub(entry, at)
end

-- The sequence number of an entry written here; nil if it was apparently written by another client.
function Entry.sequence(entry)
  local at, id_at = Entry.read_heads(entry)
  if not at or at < 17 then
    return nil
  end
  local sequence = unpack_bytes('>I8', entry, id_at)
  -- Microseconds between 2001 and 2255; the random ids of other clients hardly ever fall into this range.
  return sequence >= 1e15 and sequence < 2 ^ 53 and sequence or nil
end
