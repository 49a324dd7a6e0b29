-- Decides what becomes of the offers of a call: offer.lua says how they are given and answered.
--@include clock

-- The arguments of an offer: id, due, on duplicate, body.
local WIDTH = 4

local DUPLICATE = { keep = 'kept', replace = 'replaced', reject = 'rejected' }

-- `in_use`: whether there is a message of the id; `is_full`: whether the queue holds as many messages as it may.
local function outcome_of(in_use, on_duplicate, is_full)
  if in_use then
    return DUPLICATE[on_duplicate]
  end
  return is_full and 'full' or 'created'
end

-- What is answered: for each offer its due in ms (0: there is none); then, for each that was not created, its place (from 1) and
-- its outcome.
local function receipts_of(dues, others)
  for _, value in ipairs(others) do
    dues[#dues + 1] = value
  end
  return dues
end

-- request: first (place of the first offer in ARGV), max_messages, size (how many there are), now_micros
-- `due_in_use(record, id)`: when the message falls due whose record is kept for an id; nil: the id is free all the same.
-- Returns receipts; scores (due and id of each message to take in, which are one for an id); bodies (of these); replaced (ids of the
-- messages that these replace); earliest (due time).
local function decide_offers(keys, request, due_in_use)
  local first, size, now_micros = request.first, request.size, request.now_micros
  local most = request.max_messages > 0 and request.max_messages or math.huge
  local ids = {}
  for at = first, #ARGV, WIDTH do
    ids[#ids + 1] = ARGV[at]
  end
  local stored = redis.call('HMGET', keys.messages, unpack(ids))

  local scores, bodies, replaced, dues, others, places = {}, {}, {}, {}, {}, {}
  local earliest
  for i, id in ipairs(ids) do
    local at, place = first + (i - 1) * WIDTH, places[id]
    -- An offer sees those before it.
    local due = place and scores[2 * place - 1] or stored[i] and due_in_use(stored[i], id) or nil
    local outcome = outcome_of(due, ARGV[at + 2], size >= most)
    if outcome == 'created' or outcome == 'replaced' then
      if not due then
        size = size + 1
      elseif not place then
        replaced[#replaced + 1] = id
      end
      place = place or #bodies + 1
      due = due_instant(ARGV[at + 1], now_micros)
      places[id], bodies[place] = place, ARGV[at + 3]
      scores[2 * place - 1], scores[2 * place] = due, id
      if not earliest or due < earliest then
        earliest = due
      end
    end
    if outcome ~= 'created' then
      others[#others + 1], others[#others + 2] = i, outcome
    end
    dues[i] = due or 0
  end
  return { receipts = receipts_of(dues, others), scores = scores, bodies = bodies, replaced = replaced, earliest = earliest }
end
