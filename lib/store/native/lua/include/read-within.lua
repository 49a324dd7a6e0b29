-- Reads at most `most` items that take at most `max_bytes` together, but at least one. `read(first, last)` returns the items at
-- these positions, from 1. The first parts are small, because an item may be as large as a payload.
local function read_within(most, max_bytes, read)
  local items, bytes, size = {}, 0, 16
  while #items < most do
    local part = read(#items + 1, math.min(#items + size, most))
    for _, item in ipairs(part) do
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
