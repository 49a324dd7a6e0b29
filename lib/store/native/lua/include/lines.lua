-- How messages wait for a slot in the lines of their groups, or keep one while they are delayed.
--@include groups
--@include lanes
--@include permission

-- Raises an error before the first write if a key of groups, lanes or lines has another type, or the user may not change it.
local function check_lines()
  check_groups()
  check_lanes()
  redis.call('HLEN', keys.held)
  check_permissions('RPUSH', keys.line, 'HSET', keys.held, 'HDEL', keys.held)
end

local function is_retry_held()
  return on_retry == 'hold'
end

-- These messages keep their slots while they are delayed.
local function hold_lanes(ids)
  for _, id in ipairs(ids) do
    redis.call('HSET', keys.held, id, '1')
  end
end

-- A delayed message is gone; if it was held, it gives its slot back.
local function leave_if_held(id)
  if redis.call('HDEL', keys.held, id) == 1 then
    leave_lanes({ id })
  end
end

-- Whether a due message has to wait; `text`: what is stored of its lane.
local function must_wait(group, text)
  local lane = open_lane(group, text)
  -- Whoever has left the lane in this call has left its slot to the line.
  return lane.is_changed or not has_room(lane)
end

-- These messages wait in the lines of their groups. If they cannot, they are ready: better out of order than lost. Every message of a
-- backlog passes here, so this does without run_on_line, which costs more.
local function wait_in_lines(ids, groups, ready)
  local first, line, pcall = 1, keys.line, redis.pcall
  for i = 1, #ids do
    local group = groups[i]
    if group ~= groups[i + 1] then
      if type(pcall('RPUSH', line .. group, unpack(ids, first, i))) == 'table' then
        for at = first, i do
          ready[#ready + 1] = ids[at]
          take_slot(open_lane(group))
        end
      end
      first = i + 1
    end
  end
end

-- These messages have fallen due. Returns those that are ready; the others wait in their lines. `groups` and `texts`: as they were read.
local function join_lines(ids, groups, texts)
  local ready, released, waiting, waiting_in, last = {}, {}, {}, {}, 0
  local held = #ids > 0 and redis.call('HLEN', keys.held) > 0 and redis.call('HMGET', keys.held, unpack(ids)) or {}
  for i = 1, #ids do
    local id, group = ids[i], groups[i]
    if group == '' then
      ready[#ready + 1] = id
    elseif held[i] then
      local lane = open_lane(group, texts[i])
      lane.ready, lane.is_changed = lane.ready + 1, true
      ready[#ready + 1], released[#released + 1] = id, id
    elseif slots == 1 and texts[i] == '1' and not lanes[group] or must_wait(group, texts[i]) then
      last = last + 1
      waiting[last], waiting_in[last] = id, group
    else
      ready[#ready + 1] = id
      take_slot(lanes[group])
    end
  end
  wait_in_lines(waiting, waiting_in, ready)
  if #released > 0 then
    redis.call('HDEL', keys.held, unpack(released))
  end
  return ready
end

-- A message that was ready is gone. Where others wait behind it, the next one has its place and its slot; but it overtakes nobody who is
-- ready because a claim was given back.
local function leave_ready_or_line(id)
  local lane = lane_of[id]
  local following = lane and run_on_line('LINDEX', lane.group, 0)
  if following and lane.ready < 2 and redis.call('LINSERT', keys.ready, 'BEFORE', id, following) > 0 then
    run_on_line('LPOP', lane.group)
    redis.call('LREM', keys.ready, 1, id)
    count_admitted()
  elseif redis.call('LREM', keys.ready, 1, id) == 1 then
    leave_ready(id)
    leave_lanes({ id })
  elseif following then
    run_on_line('LREM', lane.group, 1, id)
  end
end
