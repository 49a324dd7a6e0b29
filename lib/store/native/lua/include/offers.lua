-- Decides the outcomes of the offers of a call; offer.lua describes the arguments and the reply.
--@include clock

-- `room`: how many more messages the queue may have.
local function outcome_of(is_in_use, on_duplicate, room)
  if not is_in_use then
    return room > 0 and 'created' or 'full'
  end
  return on_duplicate == 'replace' and 'replaced' or on_duplicate == 'keep' and 'kept' or 'rejected'
end

-- The offered ids, and the records stored under them.
local function read_offered()
  local ids = {}
  for at = FIRST, #ARGV, 4 do
    ids[#ids + 1] = ARGV[at]
  end
  return ids, redis.call('HMGET', keys.messages, unpack(ids))
end

-- `due_in_use(record, id)`: when the message stored under an id falls due; nil if the id is free nevertheless.
-- Returns the reply; due and id of each message to store, one for each id; id and body of each; the ids of the messages that they
-- replace; the earliest due time.
local function decide_offers(room, now_micros, due_in_use)
  local ids, stored = read_offered()
  local scores, bodies, replaced, dues, places = {}, {}, {}, {}, {}
  local others, earliest
  for i, id in ipairs(ids) do
    local at, place = FIRST + (i - 1) * 4, places[id]
    -- An offer sees the offers before it.
    local due = place and scores[place - 1] or stored[i] and due_in_use(stored[i], id) or nil
    local outcome = outcome_of(due, ARGV[at + 2], room)
    if outcome == 'created' or outcome == 'replaced' then
      if not due then
        room = room - 1
      elseif not place then
        replaced[#replaced + 1] = id
      end
      place = place or #scores + 2
      due = due_instant(ARGV[at + 1], now_micros)
      places[id] = place
      scores[place - 1], scores[place] = due, id
      bodies[place - 1], bodies[place] = id, ARGV[at + 3]
      earliest = earliest and math.min(earliest, due) or due
    end
    dues[i] = due or 0
    if outcome ~= 'created' then
      others = others or {}
      others[#others + 1], others[#others + 2] = i, outcome
    end
  end
  for at = 1, others and #others or 0 do
    dues[#dues + 1] = others[at]
  end
  return dues, scores, bodies, replaced, earliest
end
