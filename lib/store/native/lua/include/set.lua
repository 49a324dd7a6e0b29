-- The places of ids, to look up whether something is among them.
local function set_of(ids)
  local set = {}
  for place, id in ipairs(ids) do
    set[id] = place
  end
  return set
end
