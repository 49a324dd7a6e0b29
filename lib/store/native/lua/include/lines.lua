-- How messages wait for a slot in the lines of their groups, or keep one while they are delayed.
--@include lanes
--@include permission

-- Raises an error before the first write if a key of lanes or lines has another type, or the user may not change it.
local function check_lines()
  redis.call('HLEN', keys.lanes)
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
    redis.call('HSET', keys.held, id, lane_of[id] and lane_of[id].group or '')
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

-- These messages have fallen due. Returns those that are ready; the others wait in their lines. `groups` and `texts`: as they were read.
-- Every message of a backlog passes here, so this names what it uses and does without run_on_line, which costs more.
local function join_lines(ids, groups, texts)
  local ready, released, first, has_single, line, pcall, type = {}, {}, nil, slots == 1, keys.line, redis.pcall, type
  local held = #ids > 0 and redis.call('HLEN', keys.held) > 0 and redis.call('HMGET', keys.held, unpack(ids)) or {}
  for i = 1, #ids do
    local group = groups[i]
    if group == '' then
      ready[#ready + 1] = ids[i]
    elseif held[i] then
      local lane = open_lane(group, texts[i])
      lane.ready, lane.is_changed = lane.ready + 1, true
      ready[#ready + 1], released[#released + 1] = ids[i], ids[i]
    elseif has_single and texts[i] == '1' and not lanes[group] or must_wait(group, texts[i]) then
      first = first or i
      -- The next one of the group waits, too.
      if groups[i + 1] ~= group or held[i + 1] then
        local reply = first == i and pcall('RPUSH', line .. group, ids[i]) or pcall('RPUSH', line .. group, unpack(ids, first, i))
        if type(reply) == 'table' then
          -- They cannot wait, and are ready: better out of order than lost.
          for at = first, i do
            ready[#ready + 1] = ids[at]
            take_slot(open_lane(group))
          end
        end
        first = nil
      end
    else
      ready[#ready + 1] = ids[i]
      take_slot(lanes[group])
    end
  end
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
