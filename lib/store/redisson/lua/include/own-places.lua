-- Finds entries written here in Redisson's list of entries. The list is in the order of offers, so their sequence numbers ascend.
--@include entry

-- How many elements are read at each position that a search goes to.
local WINDOW = 8

-- The first entry written here among some elements, in either direction: its index and its sequence number.
local function own_among(elements, first, last, step)
  for at = first, last, step do
    local sequence = entry_sequence(elements[at])
    if sequence then
      return at, sequence
    end
  end
  return nil
end

-- Where to look for a sequence number between two landmarks. A list of offers gets numbers without a gap; other offers mostly come at
-- a steady pace, so the number tells much about the position. Every third guess is the middle, because sometimes it does not.
local function guess_between(below, above, sequence, guesses)
  local space = above.place - below.place
  if guesses % 3 == 2 or not (below.sequence and above.sequence) then
    return below.place + math.floor(space / 2)
  end
  local behind, ahead = sequence - below.sequence, above.sequence - sequence
  if behind < space and behind <= ahead then
    return below.place + behind
  elseif ahead < space then
    return above.place - ahead
  end
  local share = guesses == 0 and behind / (behind + ahead) or 0.5
  return below.place + math.floor(space * share)
end

-- Looks for an entry between two landmarks: positions, and the sequence numbers there if they are known. Returns its landmark; nil
-- if it is not found. Counts in `search.seeks` how often it goes to a position.
local function find_own(search, entry, sequence, below, above)
  local guesses = 0
  while above.place - below.place > 1 do
    local guess = guess_between(below, above, sequence, guesses)
    local first = math.max(below.place + 1, math.min(guess - WINDOW / 2, above.place - WINDOW))
    local elements = redis.call('LRANGE', search.list, first, math.min(first + WINDOW, above.place) - 1)
    guesses, search.seeks = guesses + 1, search.seeks + 1
    for at, element in ipairs(elements) do
      if element == entry then
        return { place = first + at - 1, sequence = sequence }
      end
    end
    local _, lowest = own_among(elements, 1, #elements, 1)
    local _, highest = own_among(elements, #elements, 1, -1)
    if lowest and sequence < lowest then
      above = { place = first, sequence = lowest }
    elseif highest and sequence > highest then
      below = { place = first + #elements - 1, sequence = highest }
    else
      return nil
    end
  end
  return nil
end

-- The landmarks before and behind a part of the list.
local function landmarks_around(list, first, last)
  local head = redis.call('LRANGE', list, first, math.min(first + WINDOW - 1, last))
  local tail = redis.call('LRANGE', list, math.max(first, last - WINDOW + 1), last)
  local _, lowest = own_among(head, 1, #head, 1)
  local _, highest = own_among(tail, #tail, 1, -1)
  return { place = first - 1, sequence = lowest and lowest - 1 }, { place = last + 1, sequence = highest and highest + 1 }
end
