-- Removes entries from Redisson's list of entries, which is in the order of offers. Redisson searches the whole list for each
-- entry; with hundreds of thousands of entries that blocks the server. Here:
--   entries at the head or the tail, where they are with constant delays, are popped;
--   entries written here are found by their sequence number, marked, and removed together in one pass from either end;
--   only entries of other clients are searched for, and a call removes few of these if the list is long.
--@include native/permission
--@include entry

local MARK = '\0removed'
-- How many elements of the list one call may examine to find entries whose positions are unknown.
local LOOK_LIMIT = 200000
-- How many further entries are examined for one that was written here before the search gives up.
local WINDOW = 8

-- The first entry written here at a position or shortly after it: its position and its sequence number. `seen` caches what was
-- read, because binary searches for several entries begin at the same positions.
local function own_entry_from(list, place, last, seen)
  if seen[place] == nil then
    seen[place] = entry_sequence(redis.call('LINDEX', list, place)) or false
  end
  if seen[place] then
    return place, seen[place]
  end
  for offset, candidate in ipairs(redis.call('LRANGE', list, place + 1, math.min(place + WINDOW, last))) do
    local sequence = entry_sequence(candidate)
    if sequence then
      return place + offset, sequence
    end
  end
  return nil
end

-- The position of an entry written here, between two positions; nil if it is not found by binary search.
local function place_of(list, entry, low, high, seen)
  local sequence = entry_sequence(entry)
  while sequence and low <= high do
    local middle = math.floor((low + high) / 2)
    local place, found = own_entry_from(list, middle, high, seen)
    if not place then
      return nil
    elseif found == sequence then
      return redis.call('LINDEX', list, place) == entry and place or nil
    elseif found < sequence then
      low = place + 1
    else
      high = middle - 1
    end
  end
  return nil
end

-- How many wanted elements there are at one end of the list, without a gap.
local function run_at(elements, first, step, wanted)
  local count = 0
  while wanted[elements[first + step * count]] do
    count = count + 1
  end
  return count
end

-- Finds the positions of entries. Returns a plan for unlist(), and how many of the entries, from the first on, it covers.
local function locate(list, entries)
  local size, most = redis.call('LLEN', list), #entries
  local plan = { size = size, head = 0, tail = 0, places = {}, unknown = {} }
  if most == 0 or size == 0 then
    return plan, most
  end
  local wanted = {}
  for _, entry in ipairs(entries) do
    wanted[entry] = true
  end
  local head = redis.call('LRANGE', list, 0, most - 1)
  plan.head = run_at(head, 1, 1, wanted)
  local tail = redis.call('LRANGE', list, math.max(plan.head, size - most), -1)
  plan.tail = run_at(tail, #tail, -1, wanted)
  for at = 1, plan.head do
    wanted[head[at]] = nil
  end
  for back = 0, plan.tail - 1 do
    wanted[tail[#tail - back]] = nil
  end

  local seen = {}
  local most_unknown = math.max(1, math.floor(LOOK_LIMIT / size))
  for count, entry in ipairs(entries) do
    if wanted[entry] then
      local place = place_of(list, entry, plan.head, size - plan.tail - 1, seen)
      if place then
        plan.places[#plan.places + 1] = place
      elseif #plan.unknown < most_unknown then
        plan.unknown[#plan.unknown + 1] = entry
      else
        return locate(list, { unpack(entries, 1, count - 1) })
      end
    end
  end
  return plan, most
end

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

-- Raises an error before the first write if the user may not read or change the list.
local function check_unlist(list)
  check_permissions('LRANGE', list, 'LINDEX', list, 'LSET', list, 'LREM', list, 'LPOP', list, 'RPOP', list)
end

local function unlist(list, plan)
  for _, place in ipairs(plan.places) do
    redis.call('LSET', list, place, MARK)
  end
  table.sort(plan.places)
  local near_head = count_near_head(plan.places, plan.size)
  local near_tail = #plan.places - near_head
  -- Each pass ends at the last mark of its side. A count of 0 would mean all.
  if near_head > 0 then
    redis.call('LREM', list, near_head, MARK)
  end
  if near_tail > 0 then
    redis.call('LREM', list, -near_tail, MARK)
  end
  if plan.head > 0 then
    redis.call('LPOP', list, plan.head)
  end
  if plan.tail > 0 then
    redis.call('RPOP', list, plan.tail)
  end
  for _, entry in ipairs(plan.unknown) do
    redis.call('LREM', list, 1, entry)
  end
end
