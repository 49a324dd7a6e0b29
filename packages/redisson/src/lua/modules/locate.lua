-- Finds entries in Redisson's list of entries, which is in the order of offers. Redisson searches the whole list for each entry;
-- with hundreds of thousands of entries that blocks the server. Here:
--   entries at the head or the tail, where they are with constant delays, are met there;
--   entries written here are found by their sequence number;
--   a few entries of other clients are left to be searched for as Redisson does it;
--   for many, one call after the other reads on in the list.
-- A call takes so few that other clients of the server wait only for milliseconds. Unless it reads on, it takes the first ones
-- that were written here, so that these leave the list in their order.

-- A list that a call can read to its end is read, unless so few entries are wanted that it costs less to search for each. A search
-- costs as much as reading so many elements.
local SEARCH_COST = 16
-- How many elements the searches for unknown positions may pass.
local PASS_LIMIT = 100000
-- More entries whose positions are unknown are not searched for one by one.
local FEW = 20
-- How many visits a search for an entry hardly ever exceeds, its mark included.
local MAX_VISITS = 6
-- Where to read on when the whole list has been read.
local BEHIND_END = -1

local function plan_place(plan, entry, place)
  plan.found[entry] = true
  plan.places[#plan.places + 1] = place
end

local function plan_unknown(plan, entries, most)
  for at = 1, min(#entries, most) do
    plan.found[entries[at]] = true
    plan.unknown[at] = entries[at]
  end
end

-- Plans the removal of the wanted entries that are met from a position on. Returns the position behind the last element read.
local function read_from(list, plan, entries, place)
  local wanted, most = Ids.set(entries), RemovalCosts.max_visits(plan.size, entries[1])
  local last = plan.size - plan.tail - 1
  local size, bytes, end_of_call = ListEnds.FIRST_PART, 0, place + RemovalCosts.max_read(plan.size)
  while place <= last and place < end_of_call and bytes < RemovalCosts.READ_BYTES and #plan.places < most do
    local part = call('LRANGE', list, place, min(place + size - 1, last))
    for offset, element in ipairs(part) do
      bytes = bytes + #element
      if wanted[element] and not plan.found[element] then
        plan_place(plan, element, place + offset - 1)
      end
    end
    place, size = place + #part, min(2 * size, ListEnds.MAX_PART)
  end
  return place
end

-- Reads on, unless all are met. Entries that are not met from one end of the list to the other are not in it, and count as found.
function Locate.read_on(list, plan, entries, from)
  local first = max(plan.head, from)
  local place = read_from(list, plan, entries, first)
  if #plan.places == #entries then
    return
  elseif place < plan.size - plan.tail then
    plan.read_on = place - #plan.places - plan.head
  elseif first > plan.head then
    plan.read_on = BEHIND_END
  else
    for _, entry in ipairs(entries) do
      plan.found[entry] = true
    end
  end
end

-- Searches for own entries, by ascending sequence number from index `from` to `to`, between two landmarks.
local function search_between(search, plan, from, to, below, above)
  if from > to then
    return
  end
  local middle = floor((from + to) / 2)
  local sequence = search.sequences[middle]
  local entry = search.entries[sequence]
  local landmark, visits = OwnPlaces.find_own(search.list, entry, sequence, below, above)
  search.visits = search.visits + visits + 1
  if landmark then
    plan_place(plan, entry, landmark.place)
  else
    search.missed = search.missed + 1
  end
  search_between(search, plan, from, middle - 1, below, landmark or above)
  search_between(search, plan, middle + 1, to, landmark or below, above)
end

-- Searches for own entries, the first ones first, until it has gone to `most` positions. Returns how many entries it looked for,
-- and how many of these it did not find.
local function search_own(list, plan, own, sequences, most)
  local search = { list = list, visits = 0, missed = 0 }
  local below, above = OwnPlaces.landmarks_around(list, plan.head, plan.size - plan.tail - 1)
  local done = 0
  repeat
    local last = min(#own, done + max(1, floor((most - search.visits) / MAX_VISITS)))
    search.entries, search.sequences = {}, { unpack(sequences, done + 1, last) }
    for at = done + 1, last do
      search.entries[sequences[at]] = own[at]
    end
    sort(search.sequences)
    search_between(search, plan, 1, #search.sequences, below, above)
    done = last
  until done == #own or search.visits >= most
  return done, search.missed
end

-- Returns which entries were written here, with their sequence numbers; and those of other clients.
local function by_origin(entries)
  local own, sequences, foreign = {}, {}, {}
  for _, entry in ipairs(entries) do
    local sequence = Entry.sequence(entry)
    if sequence then
      own[#own + 1], sequences[#sequences + 1] = entry, sequence
    else
      foreign[#foreign + 1] = entry
    end
  end
  return own, sequences, foreign
end

-- The first of some entries, up to one of them.
local function up_to(entries, last)
  local first = {}
  for i, entry in ipairs(entries) do
    first[i] = entry
    if entry == last then
      return first
    end
  end
end

-- Plans the removal of entries that are not at the ends of the list, in the cheapest way. Returns the last entry it considered if there
-- are too many for one call.
local function plan_others(list, plan, entries, from)
  if RemovalCosts.is_short(plan.size, entries[1]) and #entries * SEARCH_COST > plan.size then
    local most = RemovalCosts.max_removed(plan.size, entries[1])
    Locate.read_on(list, plan, { unpack(entries, 1, most) }, from)
    return #entries > most and entries[most] or nil
  end
  local own, sequences, foreign = by_origin(entries)
  if #foreign > FEW then
    Locate.read_on(list, plan, entries, from)
  elseif foreign[1] == entries[1] then
    -- It is the first to leave, so that none written here overtakes it.
    plan_unknown(plan, foreign, max(1, floor(PASS_LIMIT / plan.size)))
  else
    local done, missed = search_own(list, plan, own, sequences, RemovalCosts.max_visits(plan.size, entries[1]))
    if missed > FEW then
      Locate.read_on(list, plan, entries, from)
    elseif not plan.found[entries[1]] then
      -- Each call must remove one at least.
      plan_unknown(plan, entries, 1)
    end
    return done < #own and own[done] or nil
  end
end

-- Takes entries that fall due after the last one out of the plan, so that none overtakes another. They may be at the ends, in the way
-- of others.
local function plan_up_to(list, plan, entries, last)
  local places, remaining = plan.at_ends, up_to(entries, last)
  for _, entry in ipairs(ListEnds.plan(list, plan, remaining)) do
    if places[entry] then
      plan_place(plan, entry, places[entry])
    end
  end
end

-- The plan of a call:
--   size            the length of the list
--   head, tail      how many entries to pop at either end; `at_ends`: their places, by entry
--   places          of the entries in between, which are marked, and then removed together
--   unknown         entries whose places are unknown
--   found           the entries in between that leave the list, or are not in it, by entry
--   read_on         where the next call reads on
local function plan_removal(list, entries, from)
  local plan = { size = call('LLEN', list), head = 0, tail = 0, places = {}, unknown = {}, found = {}, read_on = 0 }
  local others = ListEnds.plan(list, plan, entries)
  if #others == 0 then
    return plan
  elseif from == BEHIND_END then
    -- It was not met, and may not be in the list.
    plan_unknown(plan, others, 1)
    return plan
  end
  local last = plan_others(list, plan, others, from)
  if last then
    plan_up_to(list, plan, entries, last)
  end
  return plan
end

-- How many of the first due entries a call can remove at most, so that it reads no more. `first`: the first one.
function Locate.max_removable(list, first, from)
  local size = call('LLEN', list)
  if from ~= 0 or call('LINDEX', list, 0) == first then
    return huge
  end
  return RemovalCosts.max_removed(size, first)
end

-- Returns a plan for Unlist.run(); the entries that it removes, in their order; the others. The plan's `read_on` is what the next call
-- gets as `from`, which is 0 at first. Within a few calls, at least one entry is removed.
function Locate.run(list, entries, from)
  local plan = plan_removal(list, entries, from)
  local gone, left = {}, {}
  for _, entry in ipairs(entries) do
    table.insert((plan.found[entry] or plan.at_ends[entry]) and gone or left, entry)
  end
  return plan, gone, left
end
