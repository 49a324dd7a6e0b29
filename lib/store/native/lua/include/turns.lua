-- What a claim changes in lanes. Where a group has a single slot, it changes nothing: whatever is claimed had the slot before.
--@include lanes
--@include set

local function has_turns()
  return slots > 1
end

-- Whether a lane that these ready messages leave has another one for the list of ready ids.
local function lines_go_on(ids)
  if not has_turns() then
    return false
  end
  read_lanes(ids)
  for _, id in ipairs(ids) do
    local lane = lane_of[id]
    if lane and lanes_first[lane] < lanes_behind[lane] and lanes_taken[lane] < slots then
      return true
    end
  end
  return false
end

-- If fewer messages are ready than a claim can take, their groups add one each, in turn, as far as they have slots. Appends to `ids`,
-- which are all that are ready; returns how many.
local function top_up(ids, most)
  local before = #ids
  if not has_turns() or before == 0 or before >= most then
    return 0
  end
  read_lanes(ids)
  repeat
    local waiting = {}
    for lane = 1, #lane_groups do
      if #waiting < most - #ids and lanes_first[lane] < lanes_behind[lane] and lanes_taken[lane] < slots then
        waiting[#waiting + 1], is_changed[lane] = lane, true
      end
    end
    local taken = take_next(waiting)
    for _, id in ipairs(taken) do
      ids[#ids + 1] = id
    end
  until #taken == 0 or #ids >= most
  return #ids - before
end

-- The first of these ids are ready no more; `present`: those of them that have a message, and keep their slots.
local function leave_to_claim(ids, count, present)
  if not has_turns() and count == #present then
    return
  end
  local first, is_present, lost = { unpack(ids, 1, count) }, set_of(present), {}
  read_lanes(first)
  for _, id in ipairs(first) do
    leave_ready(id)
    if not is_present[id] then
      leave_lane(id)
      lost[#lost + 1] = id
    end
  end
  forget_groups(lost)
  store_lanes()
end
