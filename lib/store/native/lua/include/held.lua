-- A claim's messages are stored as a text: the ids, with a line feed before, between and after them, which no id contains. '\n'
-- means none.

local function ids_held(held)
  local ids = {}
  for id in string.gmatch(held, '[^\n]+') do
    ids[#ids + 1] = id
  end
  return ids
end

-- Adds the ids of a list, or those from position `first` on.
local function with_ids(held, ids, first)
  return held .. table.concat(ids, '\n', first or 1) .. '\n'
end

-- Removes ids that follow each other in the text, joined by line feeds. Returns nil if the text does not contain them like that.
local function without_ids(held, ids)
  local from, to = string.find(held, '\n' .. ids .. '\n', 1, true)
  return from and string.sub(held, 1, from) .. string.sub(held, to + 1)
end
