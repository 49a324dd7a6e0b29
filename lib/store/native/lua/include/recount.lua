-- Mends lanes whose counts do not fit what is stored, as damage from outside may leave them.
--@include holders
--@include lanes
--@include read-lanes

-- How many messages wait in lines, and whether as many slots are taken as there are messages that have one, and none waits in vain.
local function look_at_lanes(ready, active)
  local taken, waiting, is_sound = 0, 0, true
  local groups = {}
  for _, group in ipairs(redis.call('HKEYS', keys.lanes)) do
    if group ~= ANY_WIDE then
      groups[#groups + 1] = group
    end
  end
  for i, text in ipairs(read_texts(groups)) do
    local lane = open_lane(groups[i], text)
    local length = run_on_line('LLEN', lane.group) or 0
    taken, waiting = taken + lane.taken, waiting + length
    is_sound = is_sound and lane.taken > 0 and not (length > 0 and has_room(lane))
  end
  return waiting, is_sound and taken == ready + active + redis.call('HLEN', keys.held)
end

local function count_slots(ids, of_ready)
  for first = 1, #ids, 1000 do
    local part = { unpack(ids, first, math.min(first + 999, #ids)) }
    read_lanes(part)
    for _, id in ipairs(part) do
      local lane = lane_of[id]
      if lane then
        lane.taken, lane.ready, lane.is_changed = lane.taken + 1, lane.ready + of_ready, true
      end
    end
  end
end

local function recount_lanes()
  local active, held = {}, {}
  for _, lane in ipairs(opened) do
    lane.taken, lane.ready, lane.is_changed = 0, 0, true
  end
  for id in pairs(holders_of(keys.claims)) do
    active[#active + 1] = id
  end
  for _, id in ipairs(redis.call('HKEYS', keys.held)) do
    read_lanes({ id })
    if redis.call('ZSCORE', keys.delayed, member_in_lane(id)) then
      held[#held + 1] = id
    else
      redis.call('HDEL', keys.held, id)
    end
  end
  count_slots(redis.call('LRANGE', keys.ready, 0, -1), 1)
  count_slots(active, 0)
  count_slots(held, 0)
end

local waiting, are_read = {}, {}

-- Whether a message that is in no other state waits in the line of its group. A line of which no lane is known goes on.
local function waits_in_line(id)
  read_lanes({ id })
  local lane = lane_of[id]
  if lane and not are_read[lane] then
    are_read[lane], lane.is_changed = true, true
    for _, other in ipairs(run_on_line('LRANGE', lane.group, 0, -1) or {}) do
      waiting[other] = true
    end
  end
  return waiting[id]
end
