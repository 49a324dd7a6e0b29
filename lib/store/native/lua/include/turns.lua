-- What a claim changes in lanes. Where a group has a single slot, it changes nothing: whatever is claimed had the slot before.
--@include lanes
--@include read-lanes
--@include set

local function has_turns()
  return slots > 1
end

local function check_turns()
  check_lanes()
end

-- If fewer messages are ready than a claim can take, their groups add one each, in turn, as far as they have slots. Appends to `ids`,
-- which are all that are ready; returns how many. They stay in their lines until leave_to_claim takes them.
local function top_up(ids, most)
  local before, last = #ids, nil
  read_lanes(ids)
  repeat
    last = #ids
    for _, lane in ipairs(opened) do
      if #ids < most and lane.taken + lane.added < slots then
        lane.line = lane.line or run_on_line('LRANGE', lane.group, 0, most - last - 1) or {}
        local following = lane.line[lane.added + 1]
        if following then
          lane.added = lane.added + 1
          ids[#ids + 1], lane_of[following] = following, lane
        end
      end
    end
  until #ids == last
  return #ids - before
end

-- Whether a lane that these ready messages leave has another one for the list of ready ids.
local function lines_go_on(ids)
  if not has_turns() then
    return false
  end
  read_lanes(ids)
  for _, lane in ipairs(opened) do
    if lane.taken + lane.added < slots and (run_on_line('LLEN', lane.group) or 0) > lane.added then
      return true
    end
  end
  return false
end

-- These ids are ready again.
local function return_to_turns(ids)
  if not has_turns() or #ids == 0 then
    return
  end
  read_lanes(ids)
  return_ready(ids)
  store_lanes()
end

-- The first `count` of these ids are ready no more; `in_list`: how many of all are in the list of ready ids, the others wait in lines;
-- `present`: those that have a message, and keep their slots.
local function leave_to_claim(ids, count, in_list, present)
  if not has_turns() and count == #present then
    return
  end
  local first, is_present, lost = { unpack(ids, 1, math.min(count, in_list)) }, set_of(present), {}
  read_lanes(first)
  for i = 1, count do
    local id = ids[i]
    if i <= in_list then
      leave_ready(id)
    else
      local lane = lane_of[id]
      run_on_line('LPOP', lane.group)
      lane.taken, lane.is_changed = lane.taken + 1, true
    end
    if not is_present[id] then
      lost[#lost + 1] = id
    end
  end
  leave_lanes(lost)
  store_lanes()
end
