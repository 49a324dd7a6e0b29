-- Decides the outcomes of the offers of a call; offer.lua describes the arguments and the reply.
--@include clock

-- `room`: how many more messages the queue may have.
local function outcome_of(is_in_use, on_duplicate, room)
  if not is_in_use then
    return room > 0 and 'created' or 'full'
  end
  return on_duplicate == 'replace' and 'replaced' or (on_duplicate == 'keep' or on_duplicate == 'follow') and 'kept' or 'rejected'
end

-- The longest wait of an offer with 'replace <ms>'; false if it has none.
local function max_wait_of(on_duplicate)
  return #on_duplicate > 8 and tonumber(string.sub(on_duplicate, 9))
end

-- The offers of a call, each of which has so many arguments: their ids, and what is stored under these.
local function read_offers(arguments)
  local ids = {}
  for at = FIRST, #ARGV, arguments do
    ids[#ids + 1] = ARGV[at]
  end
  return { arguments = arguments, ids = ids, stored = redis.call('HMGET', keys.messages, unpack(ids)) }
end

-- `due_in_use(record, id, i)`: when the message stored under the id of the i-th offer falls due; nil if the id is free nevertheless.
-- `chain_began(record, id)`: when the chain began that goes on if this message is replaced; false if none does. Only called for offers
-- with a longest wait.
-- `on_repeat(id, record, at)`: what an offer with 'repeat' does instead, whose arguments begin at `at` and whose id is in use.
-- Returns the reply; due and id of each message to store, one for each id; where the arguments of each begin; the ids of the
-- messages that they replace; the earliest due time; when the chain of each began in ms, nil: now.
local function decide_offers(offers, room, now_micros, due_in_use, chain_began, on_repeat)
  local stored, arguments = offers.stored, offers.arguments
  local scores, sources, replaced, dues, places, began = {}, {}, {}, {}, {}, {}
  local others, earliest
  for i, id in ipairs(offers.ids) do
    local at, place = FIRST + (i - 1) * arguments, places[id]
    -- An offer sees the offers before it.
    local due = place and scores[2 * place - 1] or stored[i] and due_in_use(stored[i], id, i) or nil
    if due and ARGV[at + 2] == 'repeat' then
      ARGV[at + 2] = place and 'replace' or on_repeat(id, stored[i], at)
    end
    local max_wait = max_wait_of(ARGV[at + 2])
    local outcome = outcome_of(due, max_wait and 'replace' or ARGV[at + 2], room)
    if outcome == 'created' or outcome == 'replaced' then
      if not due then
        room = room - 1
      elseif not place then
        replaced[#replaced + 1] = id
      end
      local first = place and began[place] or max_wait and due and not place and chain_began(stored[i], id) or nil
      place = place or #sources + 1
      due = due_instant(ARGV[at + 1], now_micros)
      if max_wait then
        due = math.min(due, (first or math.floor(now_micros / 1000)) + max_wait)
      end
      began[place] = max_wait and first or nil
      places[id], sources[place] = place, at
      scores[2 * place - 1], scores[2 * place] = due, id
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
  return dues, scores, sources, replaced, earliest, began
end
