-- Lists of ids. A claim stores its ids as a string with line feeds, which no id contains, before, between and after them. '\n' means none.

function Ids.of(text)
  local ids = {}
  for id in gmatch(text, '[^\n]+') do
    ids[#ids + 1] = id
  end
  return ids
end

-- Returns the text of the ids from position `first` to `last` (default: the end).
function Ids.text(ids, first, last)
  return '\n' .. concat(ids, '\n', first, last or #ids) .. '\n'
end

-- Removes consecutive ids, joined by line feeds, from the text. Returns nil if the text does not contain them in this order.
function Ids.without(text, ids)
  local from, to = find(text, '\n' .. ids .. '\n', 1, true)
  return from and sub(text, 1, from) .. sub(text, to + 1)
end

-- Maps ids to their positions, which also makes them a set.
function Ids.set(ids)
  local set = {}
  for place, id in ipairs(ids) do
    set[id] = place
  end
  return set
end

-- Reads at most `most` items with at most `max_bytes` in total, but at least one. `read(first, last)` returns the items at these positions,
-- from 1. The first parts are small, because an item may be as large as a payload.
function Ids.read_within(most, max_bytes, read)
  local items, bytes, size = {}, 0, 16
  while #items < most do
    for _, item in ipairs(read(#items + 1, min(#items + size, most))) do
      bytes = bytes + (item and #item or 0)
      if bytes > max_bytes and #items > 0 then
        return items
      end
      items[#items + 1] = item
    end
    size = size * 2
  end
  return items
end
