-- A claim's ids are stored as one string, with a line feed before, between and after the ids, which contain none. '\n' is the empty list.

function Ids.of(text)
  local ids = {}
  for id in gmatch(text, '[^\n]+') do
    ids[#ids + 1] = id
  end
  return ids
end

-- Returns the ids from position `first` to `last` (default: the last one) as the string that a claim stores.
function Ids.text(ids, first, last)
  return '\n' .. concat(ids, '\n', first, last or #ids) .. '\n'
end

-- Returns a claim's string without these ids, which are joined by line feeds; nil if it does not contain them consecutively in this order.
function Ids.without(text, ids)
  local from, to = find(text, '\n' .. ids .. '\n', 1, true)
  return from and sub(text, 1, from) .. sub(text, to + 1)
end

-- Returns a map from ids to their positions, which also serves as a set.
function Ids.set(ids)
  local set = {}
  for place, id in ipairs(ids) do
    set[id] = place
  end
  return set
end

-- Reads at most `most` items, with at most `max_bytes` in total, but at least one. `read(first, last)` returns the items at these
-- positions, which count from 1. An item may be as large as a payload, so reads one first, and then no more than would fit if all were as
-- large as those so far.
function Ids.read_within(most, max_bytes, read)
  local items, bytes, size = {}, 0, 1
  while #items < most and size > 0 do
    for _, item in ipairs(read(#items + 1, min(#items + size, most))) do
      bytes = bytes + (item and #item or 0)
      if bytes > max_bytes and #items > 0 then
        return items
      end
      items[#items + 1] = item
    end
    size = min(size * 4, floor((max_bytes - bytes) / max(1, bytes) * #items))
  end
  return items
end
