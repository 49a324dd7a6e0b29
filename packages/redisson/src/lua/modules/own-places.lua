-- Finds entries written here in Redisson's list of entries. The list is in the order of offers, so their sequence numbers ascend.

-- How many elements are read at each position that a search goes to, and how many if all of those are other clients'.
local WINDOW, WIDE_WINDOW = 2, 32

-- The sequence number of the first entry written here among some elements, from index `from` to `to`.
local function number_among(elements, from, to)
  for at = from, to, from < to and 1 or -1 do
    local sequence = elements[at] and Entry.sequence(elements[at])
    if sequence then
      return sequence
    end
  end
  return nil
end

-- Where to look for a sequence number between two landmarks. Numbers have no gaps, so the number tells the position as long as
-- nothing in between was removed, or belongs to another client. Every third guess is the middle.
local function guess_between(below, above, sequence, guesses)
  local space = above.place - below.place
  if guesses % 3 == 2 or not (below.sequence and above.sequence) then
    return below.place + floor(space / 2)
  end
  local behind, ahead = sequence - below.sequence, above.sequence - sequence
  if behind < space and behind <= ahead then
    return below.place + behind
  elseif ahead < space then
    return above.place - ahead
  end
  local share = guesses == 0 and behind / (behind + ahead) or 0.5
  return below.place + floor(space * share)
end

-- Looks for an entry between two landmarks: positions, and the sequence numbers there if they are known. Returns its landmark, nil
-- if it is not found, and how many positions it went to.
function OwnPlaces.find_own(list, entry, sequence, below, above)
  local guesses, window = 0, WINDOW
  while above.place - below.place > 1 do
    local guess = guess_between(below, above, sequence, guesses)
    local first = max(below.place + 1, min(guess - floor((window - 1) / 2), above.place - window))
    local elements = call('LRANGE', list, first, min(first + window, above.place) - 1)
    guesses = guesses + 1
    for at, element in ipairs(elements) do
      if element == entry then
        return { place = first + at - 1, sequence = sequence }, guesses
      end
    end
    local first_number = number_among(elements, 1, #elements)
    local last_number = number_among(elements, #elements, 1)
    if first_number and sequence < first_number then
      above = { place = first, sequence = first_number }
    elseif last_number and sequence > last_number then
      below = { place = first + #elements - 1, sequence = last_number }
    elseif not first_number and window < WIDE_WINDOW and #elements == window then
      window = WIDE_WINDOW
    else
      return nil, guesses
    end
  end
  return nil, guesses
end

-- The landmarks before and behind a part of the list.
function OwnPlaces.landmarks_around(list, first, last)
  local head = call('LRANGE', list, first, min(first + WIDE_WINDOW - 1, last))
  local tail = call('LRANGE', list, max(first, last - WIDE_WINDOW + 1), last)
  local first_number, last_number = number_among(head, 1, #head), number_among(tail, #tail, 1)
  local below = { place = first - 1, sequence = first_number and first_number - 1 }
  return below, { place = last + 1, sequence = last_number and last_number + 1 }
end
