-- What a claim changes in lanes. Where a group has a single slot, it changes nothing: whatever is claimed had the slot before.
--@include groups
--@include lanes
--@include set

local function has_turns()
  return slots > 1
end

local function check_turns()
  check_groups()
  check_lanes()
end

-- Whether a lane that these ready messages leave has another one for the list of ready ids.
local function lines_go_on(ids)
  if not has_turns() then
    return false
  end
  read_lanes(ids)
  local lines = {}
  for _, lane in ipairs(opened) do
    if lane.taken < slots then
      lines[#lines + 1] = keys.line .. lane.group
    end
  end
  return #lines > 0 and redis.call('EXISTS', unpack(lines)) > 0
end

-- If fewer messages are ready than a claim can take, their groups add one each, in turn, as far as they have slots. Appends to `ids`,
-- which are all that are ready; returns how many.
local function top_up(ids, most)
  local before, last = #ids, nil
  if before >= most then
    return 0
  end
  read_lanes(ids)
  repeat
    last = #ids
    for _, lane in ipairs(opened) do
      local following = #ids < most and lane.taken < slots and run_on_line('LPOP', lane.group)
      if following then
        take_slot(lane)
        ids[#ids + 1] = following
      end
    end
  until #ids == last
  if #ids > before then
    redis.call('RPUSH', keys.ready, unpack(ids, before + 1))
  end
  return #ids - before
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
      lost[#lost + 1] = id
    end
  end
  leave_lanes(lost)
  forget_groups(lost)
  store_lanes()
end
