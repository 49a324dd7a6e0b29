-- Finds the messages that belong to values in the target list. A value that Java offered belongs to none.

-- How many more messages with the same value are examined if some of the first ones are still delayed.
local LOOK_FURTHER = 20

-- Those of some messages, given by `id` and `value`, that are no longer delayed, with their `record`. `earliest`: the lowest due time
-- in Redisson's sorted set, nil if it is empty. Only what falls due no earlier can be in there.
local function no_longer_delayed(q, messages, earliest)
  local ids, moved, unsure, entries = {}, {}, {}, {}
  for i, message in ipairs(messages) do
    ids[i] = message.id
  end
  for i, record in ipairs(#ids > 0 and call('HMGET', q.offered, unpack(ids)) or {}) do
    local message = messages[i]
    -- Another value may have the same digest.
    if record and find(record, message.value, -#message.value, true) then
      message.record = record
      if earliest and Record.due(record) >= earliest then
        unsure[#unsure + 1], entries[#entries + 1] = message, Offered.entry_of(record)
      else
        moved[#moved + 1] = message
      end
    end
  end
  local due_of = #entries > 0 and call('ZMSCORE', q.timeouts, unpack(entries))
  for i, message in ipairs(unsure) do
    if not due_of[i] then
      moved[#moved + 1] = message
    end
  end
  return moved
end

-- The due messages in `repeated` with a value, from a position (from 0) on, at most `most` of them, earliest first.
function FindOffered.repeated_from(q, first, most, value, now)
  local digest, messages = Offered.digest_of(value), {}
  local places = call(
    'ZRANGE', q.repeated, '[' .. digest, '(' .. digest .. pack('>I6', now + 1), 'BYLEX', 'LIMIT', first, most
  )
  for i, place in ipairs(places) do
    messages[i] = { id = sub(place, Offered.PLACE_BYTES + 1), value = value, place = place }
  end
  return messages
end

-- Of those due at the same instant, the one that was offered first comes first.
local function is_before(message, other)
  local due, other_due = Record.due(message.record), Record.due(other.record)
  if due ~= other_due then
    return due < other_due
  end
  return (Entry.sequence(Offered.entry_of(message.record)) or 0) < (Entry.sequence(Offered.entry_of(other.record)) or 0)
end

-- The messages with a value that are no longer delayed, earliest first: `part.most` from position `part.before` (from 0) on, and
-- perhaps a few more. `single`: the one that is not in `repeated`, if there is one.
local function moved_with(q, value, single, part, instants)
  local before, moved = part.before, {}
  local place = single and max(0, before - 1) or before
  for _, count in ipairs({ part.most + 1, LOOK_FURTHER }) do
    local messages = #moved <= part.most and FindOffered.repeated_from(q, place, count, value, instants.now) or {}
    place = place + #messages
    for _, message in ipairs(no_longer_delayed(q, messages, instants.earliest)) do
      moved[#moved + 1] = message
    end
  end
  if single and before > 0 then
    if not moved[1] or is_before(single, moved[1]) then
      return moved
    end
    table.remove(moved, 1)
  end
  local at = 1
  while single and moved[at] and is_before(moved[at], single) do
    at = at + 1
  end
  if single then
    table.insert(moved, at, single)
  end
  return moved
end

-- Those of the messages in `values` with some values that are no longer delayed, by value.
local function find_singles(q, values, earliest)
  local digests, messages, singles = {}, {}, {}
  for i, value in ipairs(values) do
    digests[i] = Offered.digest_of(value)
  end
  for i, id in ipairs(#values > 0 and call('HMGET', q.values, unpack(digests)) or {}) do
    if id then
      messages[#messages + 1] = { id = id, value = values[i], digest = digests[i] }
    end
  end
  for _, message in ipairs(no_longer_delayed(q, messages, earliest)) do
    singles[message.value] = message
  end
  return singles
end

-- Returns for each value, by its position, its message: `id`, `record`, and `place` if it is in `repeated`, or else `digest`; nil if
-- Java offered it. `before`: how many equal ones come before these values, by value; false if that is not known.
function FindOffered.run(q, values, now, before)
  local wanted, different = {}, {}
  for _, value in ipairs(values) do
    if not wanted[value] and before[value] ~= false then
      different[#different + 1] = value
    end
    wanted[value] = (wanted[value] or 0) + 1
  end

  local instants = { now = now, earliest = Scores.lowest(q.timeouts) }
  local singles, moved = find_singles(q, different, instants.earliest), {}
  local repeats = call('ZCARD', q.repeated) > 0
  for _, value in ipairs(different) do
    local part = { before = before[value] or 0, most = wanted[value] }
    moved[value] = repeats and moved_with(q, value, singles[value], part, instants) or { singles[value] }
  end

  local met, found = {}, {}
  for i, value in ipairs(values) do
    met[value] = (met[value] or 0) + 1
    found[i] = (moved[value] or {})[met[value]]
  end
  return found
end
