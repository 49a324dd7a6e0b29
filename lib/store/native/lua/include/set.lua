-- Maps ids to their positions, to look up whether an id is among them.
local function set_of(ids)
  local set = {}
  for place, id in ipairs(ids) do
    set[id] = place
  end
  return set
end
