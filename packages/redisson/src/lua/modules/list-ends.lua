-- Plans the removal of entries at the ends of Redisson's list of entries, where they are with constant delays.

-- How many elements are read at once: few at first, because they may be large.
ListEnds.FIRST_PART = 8
ListEnds.MAX_PART = 256

-- How many wanted entries there are at one end of the list, without a gap. They are no longer wanted, and the plan notes their places.
local function run_at(list, plan, wanted, is_tail)
  local count, size = 0, ListEnds.FIRST_PART
  repeat
    local from, to = count, count + size - 1
    if is_tail then
      from, to = -to - 1, -from - 1
    end
    local part = call('LRANGE', list, from, to)
    for at = 1, #part do
      local entry = part[is_tail and #part + 1 - at or at]
      if not wanted[entry] then
        return count
      end
      wanted[entry] = nil
      plan.at_ends[entry] = is_tail and plan.size - 1 - count or count
      count = count + 1
    end
    size = min(2 * size, ListEnds.MAX_PART)
  until #part == 0
  return count
end

-- Plans the removal of entries at the ends of the list. Returns the others.
function ListEnds.plan(list, plan, entries)
  local wanted, others = Ids.set(entries), {}
  plan.at_ends = {}
  plan.head = run_at(list, plan, wanted)
  plan.tail = run_at(list, plan, wanted, true)
  for _, entry in ipairs(entries) do
    if wanted[entry] then
      others[#others + 1] = entry
    end
  end
  return others
end
