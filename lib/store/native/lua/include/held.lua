-- What a claim holds is a text: its ids, with a line feed before, between and after them, which no id contains. '\n': nothing.

local function ids_held(held)
  local ids = {}
  for id in string.gmatch(held, '[^\n]+') do
    ids[#ids + 1] = id
  end
  return ids
end

-- With the ids of a list, or with those from a place on.
local function with_ids(held, ids, first)
  return held .. table.concat(ids, '\n', first or 1) .. '\n'
end

-- What is left without some ids, given as they follow each other in the text; nil: it does not hold them so.
local function without_ids(held, ids)
  local from, to = string.find(held, '\n' .. ids .. '\n', 1, true)
  return from and string.sub(held, 1, from) .. string.sub(held, to + 1)
end
