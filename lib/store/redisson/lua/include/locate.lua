-- Finds entries in Redisson's list of entries, which is in the order of offers. Redisson searches the whole list for each entry;
-- with hundreds of thousands of entries that blocks the server. Here:
--   entries at the head or the tail, where they are with constant delays, are met there;
--   entries written here are found by their sequence number;
--   a few entries of other clients are left to be searched for as Redisson does it;
--   for many, or if a large part of the list is wanted, one call after the other reads on in the list.
-- A call stops soon enough that other clients of the server wait only for milliseconds.
--@include native/set
--@include entry
--@include own-places

-- The limits of a call: how many elements its removal passes, how many it reads in a row, and past how many nodes it walks to
-- positions. Each stands for two milliseconds or so.
local PASS_LIMIT, READ_LIMIT, WALK_LIMIT = 100000, 5000, 4000000
-- A visit to a position costs as much as so many nodes.
local VISIT_COST = 1600
-- Redis keeps so much of a list in a node. Entries are as large as their payloads.
local NODE_BYTES, READ_BYTES = 8192, 1024 * 1024
-- More entries whose positions are unknown are not searched for one by one.
local FEW = 20
-- If one of so many elements is wanted, reading on is faster than a search for each.
local DENSE = 50
-- How many elements are read at once: few at first, because they may be large.
local FIRST_PART, MOST_PART = 8, 256
-- Where to read on when the whole list has been read.
local BEHIND_END = -1

-- The bounds of a part of the list that lies so many elements from the head or from the tail.
local function from_head(distance, size)
  return distance, distance + size - 1
end

local function from_tail(distance, size)
  return -distance - size, -distance - 1
end

-- How many wanted elements there are at one end of the list, without a gap; they are no longer wanted.
local function run_at(list, bounds, wanted)
  local count, size = 0, FIRST_PART
  repeat
    local part = redis.call('LRANGE', list, bounds(count, size))
    local first, last, step = 1, #part, 1
    if bounds == from_tail then
      first, last, step = #part, 1, -1
    end
    for at = first, last, step do
      if not wanted[part[at]] then
        return count
      end
      wanted[part[at]] = nil
      count = count + 1
    end
    size = math.min(2 * size, MOST_PART)
  until #part == 0
  return count
end

-- Plans the removal of entries at the ends of the list. Returns the others.
local function plan_ends(list, plan, entries)
  local wanted, others = set_of(entries), {}
  plan.head = run_at(list, from_head, wanted)
  plan.tail = run_at(list, from_tail, wanted)
  for _, entry in ipairs(entries) do
    if wanted[entry] then
      others[#others + 1] = entry
    else
      plan.found[entry] = true
    end
  end
  return others
end

local function plan_place(plan, entry, place)
  plan.found[entry] = true
  plan.places[#plan.places + 1] = place
end

local function plan_unknown(plan, entries, most)
  for at = 1, math.min(#entries, most) do
    plan.found[entries[at]] = true
    plan.unknown[at] = entries[at]
  end
end

-- How often a call may go to a position, to find an entry or to mark it.
local function most_visits(plan, entry)
  local nodes = plan.size * math.min(1, #entry / NODE_BYTES)
  return math.ceil(WALK_LIMIT / (VISIT_COST + nodes))
end

-- Plans the removal of the wanted entries that are met from a position on. Returns the position behind the last element read.
local function read_from(list, plan, entries, place)
  local wanted, most = set_of(entries), most_visits(plan, entries[1])
  local last = plan.size - plan.tail - 1
  local size, bytes, end_of_call = FIRST_PART, 0, place + READ_LIMIT
  while place <= last and place < end_of_call and bytes < READ_BYTES and #plan.places < most do
    local part = redis.call('LRANGE', list, place, math.min(place + size - 1, last))
    for offset, element in ipairs(part) do
      bytes = bytes + #element
      if wanted[element] then
        plan_place(plan, element, place + offset - 1)
      end
    end
    place, size = place + #part, math.min(2 * size, MOST_PART)
  end
  return place
end

-- Reads on. Entries that are not met from one end of the list to the other are not in it, and count as found.
local function read_on(list, plan, entries, from)
  local first = math.max(plan.head, from)
  local place = read_from(list, plan, entries, first)
  if place < plan.size - plan.tail then
    plan.read_on = place - #plan.places - plan.head
  elseif first > plan.head then
    plan.read_on = BEHIND_END
  else
    for _, entry in ipairs(entries) do
      plan.found[entry] = true
    end
  end
end

-- Sets how far the removal may go from the end that is nearest to an entry.
local function set_reach(search, plan, place)
  local is_near_head = place < plan.size / 2
  local distance = math.max(is_near_head and place or plan.size - place, PASS_LIMIT / 4)
  search.head = is_near_head and distance or -1
  search.tail = is_near_head and plan.size or plan.size - distance
end

-- Searches for own entries, by ascending sequence number from index `from` to `to`, between two landmarks.
local function search_between(search, plan, from, to, below, above)
  local is_far = below.place > search.head and above.place < search.tail
  if from > to or is_far or search.visits + #plan.places > search.most then
    return
  end
  local middle = math.floor((from + to) / 2)
  local sequence = search.sequences[middle]
  local entry = search.entries[sequence]
  local landmark = find_own(search, entry, sequence, below, above)
  if not landmark then
    search.missed = search.missed + 1
  elseif landmark.place <= search.head or landmark.place >= search.tail then
    plan_place(plan, entry, landmark.place)
  end
  search_between(search, plan, from, middle - 1, below, landmark or above)
  search_between(search, plan, middle + 1, to, landmark or below, above)
end

-- Searches for own entries, for the first one in any case. Returns false if reading on is better: too many are not found.
local function search_own(list, plan, entries, sequences)
  local most = most_visits(plan, entries[1])
  local search = { list = list, visits = 0, missed = 0, most = most, sequences = sequences, entries = {} }
  for i, entry in ipairs(entries) do
    search.entries[sequences[i]] = entry
  end
  local below, above = landmarks_around(list, plan.head, plan.size - plan.tail - 1)
  local first = find_own(search, entries[1], sequences[1], below, above)
  if not first then
    plan_unknown(plan, entries, 1)
    return #entries <= FEW
  end
  set_reach(search, plan, first.place)
  table.sort(sequences)
  search_between(search, plan, 1, #sequences, below, above)
  if not plan.found[entries[1]] then
    plan_place(plan, entries[1], first.place)
  end
  return search.missed <= FEW
end

-- Returns which of the first entries were written here, with their sequence numbers; and the others.
local function by_origin(entries, most)
  local own, sequences, foreign = {}, {}, {}
  for at = 1, math.min(#entries, most) do
    local entry = entries[at]
    local sequence = entry_sequence(entry)
    if sequence then
      own[#own + 1], sequences[#sequences + 1] = entry, sequence
    else
      foreign[#foreign + 1] = entry
    end
  end
  return own, sequences, foreign
end

-- Plans the removal of entries that are not at the ends.
local function plan_others(list, plan, entries, from)
  if from == BEHIND_END then
    -- It was not met, and may not be in the list.
    return plan_unknown(plan, entries, 1)
  end
  local own, sequences, foreign = by_origin(entries, most_visits(plan, entries[1]))
  if #foreign > FEW or plan.size < DENSE * #entries then
    return read_on(list, plan, entries, from)
  elseif foreign[1] == entries[1] then
    return plan_unknown(plan, foreign, math.max(1, math.floor(PASS_LIMIT / plan.size)))
  elseif not search_own(list, plan, own, sequences) then
    plan.places, plan.unknown = {}, {}
    for _, entry in ipairs(entries) do
      plan.found[entry] = nil
    end
    read_on(list, plan, entries, from)
  end
end

-- Returns a plan for unlist(); the entries that it removes, in their order; the others. The plan's `read_on` is what the next call
-- gets as `from`, which is 0 at first. Within a few calls, at least one entry is removed.
local function locate(list, entries, from)
  local plan = {
    size = redis.call('LLEN', list), head = 0, tail = 0, places = {}, unknown = {}, found = {}, read_on = 0,
  }
  local others = plan_ends(list, plan, entries)
  if #others > 0 then
    plan_others(list, plan, others, from)
  end
  local gone, left = {}, {}
  for _, entry in ipairs(entries) do
    table.insert(plan.found[entry] and gone or left, entry)
  end
  return plan, gone, left
end
