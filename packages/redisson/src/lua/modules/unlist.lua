-- Removes entries from Redisson's list of entries: those at the ends are popped, the others are marked, and removed together in one
-- pass from either end.

local MARK = '\0removed'

-- How many of the marks are removed from the head; the others are removed from the tail. Chosen so that neither pass crosses the
-- widest gap: between two marks, before the first, or after the last.
local function count_near_head(places, size)
  local count, widest = 0, places[1]
  for i, place in ipairs(places) do
    local gap = (places[i + 1] or size) - place
    if gap > widest then
      count, widest = i, gap
    end
  end
  return count
end

-- Raises an error before the first write if the list has another type, or the user may not read or change it.
function Unlist.check(list)
  call('LLEN', list)
  Permissions.check('LRANGE', list, 'LSET', list, 'LREM', list, 'LPOP', list, 'RPOP', list)
end

function Unlist.run(list, plan)
  for _, place in ipairs(plan.places) do
    call('LSET', list, place, MARK)
  end
  sort(plan.places)
  local near_head = count_near_head(plan.places, plan.size)
  local near_tail = #plan.places - near_head
  -- Each pass ends at the last mark of its side. A count of 0 would mean all.
  if near_head > 0 then
    call('LREM', list, near_head, MARK)
  end
  if near_tail > 0 then
    call('LREM', list, -near_tail, MARK)
  end
  if plan.head > 0 then
    call('LPOP', list, plan.head)
  end
  if plan.tail > 0 then
    call('RPOP', list, plan.tail)
  end
  for _, entry in ipairs(plan.unknown) do
    call('LREM', list, 1, entry)
  end
end

-- Removes all of these entries, however long that takes.
function Unlist.all(list, entries)
  local from = 0
  while #entries > 0 do
    local plan, _, left = Locate.run(list, entries, from)
    Unlist.run(list, plan)
    entries, from = left, plan.read_on
  end
end
