-- Decides the outcomes of the offers of a call.

-- `room`: how many messages the queue may still accept.
local function outcome_of(is_in_use, on_duplicate, room)
  if not is_in_use then
    return room > 0 and 'created' or 'full'
  end
  return on_duplicate == 'replace' and 'replaced' or (on_duplicate == 'keep' or on_duplicate == 'follow') and 'kept' or 'rejected'
end

-- Reads a call's offers from its arguments, `width` for each: its id; its due time, after which a space and what to do if the id is in use
-- may follow (default: 'keep'); its body; and any others. `first`: the position of the first offer. Returns lists with an item per offer.
function Offers.read(args, first, width, messages)
  local offers = { ids = {}, dues = {}, on_duplicate = {}, bodies = {}, at = {} }
  for at = first, #args, width do
    local i, space = #offers.ids + 1, find(args[at + 1], ' ', 1, true)
    offers.ids[i], offers.bodies[i], offers.at[i] = args[at], args[at + 2], at
    offers.dues[i] = space and sub(args[at + 1], 1, space - 1) or args[at + 1]
    offers.on_duplicate[i] = space and sub(args[at + 1], space + 1) or 'keep'
  end
  offers.stored = call('HMGET', messages, unpack(offers.ids))
  return offers
end

-- Decides what each offer does. The functions in `about` describe the stored messages: `due_in_use(record, id, i)`: the due time of the
-- message stored under the i-th offer's id; nil if the id is free after all. `chain_began(record, id)`: when the chain of replacements that
-- includes the stored message began; false if it is in none. Called only for offers with a maximum wait. `on_repeat(record, i)`: what the
-- i-th offer does instead if it has 'repeat' and its id is in use.
-- Returns the plan: `receipts`, the reply; `scores`, due time and id of each message to store, one for each id; `sources`, the offer that
-- each comes from, by position; `replaced`, the ids whose messages are replaced; `earliest`, the earliest due time; `began`, the time in ms
-- at which each message's chain began, nil for now.
function Offers.decide(offers, room, micros, about)
  local stored, receipts, scores, sources, replaced, places, began = offers.stored, {}, {}, {}, {}, {}, {}
  local others, earliest = {}, nil
  for i, id in ipairs(offers.ids) do
    local place, on_duplicate = places[id], offers.on_duplicate[i]
    -- An offer takes the call's earlier offers into account.
    local due = place and scores[2 * place - 1] or stored[i] and about.due_in_use(stored[i], id, i) or nil
    if due and on_duplicate == 'repeat' then
      on_duplicate = place and 'replace' or about.on_repeat(stored[i], i)
      offers.on_duplicate[i] = on_duplicate
    end
    -- Only 'replace <ms>' is as long as this.
    local max_wait = #on_duplicate > 8 and tonumber(sub(on_duplicate, 9))
    local outcome = outcome_of(due, max_wait and 'replace' or on_duplicate, room)
    if outcome == 'created' or outcome == 'replaced' then
      if not due then
        room = room - 1
      elseif not place then
        replaced[#replaced + 1] = id
      end
      local first = place and began[place] or max_wait and due and not place and about.chain_began(stored[i], id) or nil
      place = place or #sources + 1
      due = Clock.due(offers.dues[i], micros)
      if max_wait then
        due = min(due, (first or floor(micros / 1000)) + max_wait)
      end
      began[place] = max_wait and first or nil
      places[id], sources[place] = place, i
      scores[2 * place - 1], scores[2 * place] = due, id
      earliest = Scores.lower(earliest, due)
    end
    receipts[i] = due or 0
    if outcome ~= 'created' then
      others[#others + 1], others[#others + 2] = i, outcome
    end
  end
  for at = 1, #others do
    receipts[#receipts + 1] = others[at]
  end
  return { receipts = receipts, scores = scores, sources = sources, replaced = replaced, earliest = earliest, began = began }
end
