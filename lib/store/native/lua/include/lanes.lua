-- Lanes: of one group, at most so many messages have a slot at once. A message takes a slot when it becomes ready, and has it until it
-- is settled; with 'hold', also while it waits for a retry. Due messages without a slot wait in the line of their group, in the order
-- in which they fell due. Groups take turns: one message of a group at most is in the list of ready ids, behind those of the others,
-- unless nobody else is ready.
--
-- groups  id → group; while the message waits in a line: group, line feed, place
-- lanes   group → how many slots are taken, how many of these by ready messages, the first place of its line, the place behind its last
-- lines   group, line feed, place → id; the place of a message that was replaced is empty
-- members group, line feed, id, all with the same score: the messages of a group in whatever state
-- held    id → '1', of delayed messages that have a slot
--
-- args.lanes: '<how many slots a group has, 0: no limit> <hold or pass>'
--@include permission

local slots, on_retry = string.match(args.lanes, '^(%d+) (%a+)$')
slots = slots == '0' and math.huge or tonumber(slots)

-- Lanes have numbers, in the order in which they were read: by number, their groups and what is stored of them, and by group or id, the
-- number. Arrays of numbers rather than a table for each lane, because a call may read a thousand of them.
local lane_groups, lanes_taken, lanes_ready, lanes_first, lanes_behind, is_changed = {}, {}, {}, {}, {}, {}
local lane_numbers, lane_of, line_place = {}, {}, {}

local function check_lanes()
  for _, key in ipairs({ keys.groups, keys.lanes, keys.lines, keys.held }) do redis.call('HLEN', key) end
  redis.call('ZCARD', keys.members)
  redis.call('LLEN', keys.ready)
  check_permissions(
    'HSET', keys.groups, 'HDEL', keys.groups, 'HSET', keys.lanes, 'HDEL', keys.lanes, 'HSET', keys.lines, 'HDEL', keys.lines,
    'HSET', keys.held, 'HDEL', keys.held, 'ZADD', keys.members, 'ZREM', keys.members, 'RPUSH', keys.ready
  )
end

local function read_lanes_of(groups)
  for i, text in ipairs(#groups > 0 and redis.call('HMGET', keys.lanes, unpack(groups)) or {}) do
    local lane = lane_numbers[groups[i]]
    lane_groups[lane] = groups[i]
    -- Any other length was written by somebody else.
    if text and #text == 20 then
      lanes_taken[lane], lanes_ready[lane], lanes_first[lane], lanes_behind[lane] = struct.unpack('>I4I4I6I6', text)
    else
      lanes_taken[lane], lanes_ready[lane], lanes_first[lane], lanes_behind[lane] = 0, 0, 0, 0
    end
  end
end

-- Reads the lanes of these messages. A message without a group was left by somebody else; it has no lane.
local function read_lanes(ids)
  local new, count = {}, #lane_groups
  for i, text in ipairs(#ids > 0 and redis.call('HMGET', keys.groups, unpack(ids)) or {}) do
    if text then
      local id, last, group = ids[i], string.find(text, '\n', 1, true), text
      if last then
        group, line_place[id] = string.sub(text, 1, last - 1), text
      end
      local lane = lane_numbers[group]
      if not lane then
        lane = count + #new + 1
        new[#new + 1], lane_numbers[group] = group, lane
      end
      lane_of[id] = lane
    end
  end
  read_lanes_of(new)
end

-- The message gives its slot back.
local function leave_lane(id)
  local lane = lane_of[id]
  if lane then
    is_changed[lane] = true
    lanes_taken[lane] = math.max(0, lanes_taken[lane] - 1)
  end
end

-- The message is ready no more.
local function leave_ready(id)
  local lane = lane_of[id]
  if lane then
    is_changed[lane] = true
    lanes_ready[lane] = math.max(0, lanes_ready[lane] - 1)
  end
end

-- The message waits in no line any more.
local function leave_line(id)
  if line_place[id] then
    is_changed[lane_of[id]] = true
    redis.call('HDEL', keys.lines, line_place[id])
    line_place[id] = nil
  end
end

-- The message keeps its slot while it is delayed.
local function hold_lane(id)
  redis.call('HSET', keys.held, id, '1')
end

local function is_retry_held()
  return on_retry == 'hold'
end

-- A delayed message is gone; if it was held, it gives its slot back.
local function leave_if_held(id)
  if redis.call('HDEL', keys.held, id) == 1 then
    leave_lane(id)
  end
end

-- Nothing is known of these messages any more. They have no slots.
local function forget_groups(ids)
  local known, members = {}, {}
  for _, id in ipairs(ids) do
    local lane = lane_of[id]
    if lane then
      known[#known + 1], members[#members + 1] = id, lane_groups[lane] .. '\n' .. id
    end
  end
  if #known > 0 then
    redis.call('HDEL', keys.groups, unpack(known))
    redis.call('ZREM', keys.members, unpack(members))
  end
end

-- The group of a message, from the first lines of its body; nil: it has none. Behind an instant if it was set aside.
local function body_group(body)
  local wrapped = select(2, string.find(body, '^W%d+\n'))
  if wrapped then
    return body_group(string.sub(body, wrapped + 1))
  end
  return string.match(body, '^Ngroup\n([^\n]+)\n')
end

-- New messages with these bodies are there.
local function enter_groups(ids, bodies)
  local groups, members = {}, {}
  for i, id in ipairs(ids) do
    local group = body_group(bodies[i])
    if group then
      groups[#groups + 1], groups[#groups + 2] = id, group
      members[#members + 1], members[#members + 2] = '0', group .. '\n' .. id
    end
  end
  if #groups > 0 then
    redis.call('HSET', keys.groups, unpack(groups))
    redis.call('ZADD', keys.members, unpack(members))
  end
end

-- A lane may let one more message into the list of ready ids.
local function has_room(lane)
  local taken = lanes_taken[lane]
  return taken < slots and (taken == 0 or lanes_ready[lane] == 0)
end

local function take_slot(lane)
  local taken = lanes_taken[lane]
  -- With a single slot, nobody counts how many are ready.
  lanes_ready[lane] = taken == 0 and 1 or lanes_ready[lane] + 1
  lanes_taken[lane] = taken + 1
end

-- These messages have fallen due. Returns those that are ready; the others wait in their lines.
local function join_lines(ids)
  local ready, waiting, places, released = {}, {}, {}, {}
  local held = redis.call('HLEN', keys.held) > 0 and redis.call('HMGET', keys.held, unpack(ids)) or {}
  for i, id in ipairs(ids) do
    local lane = lane_of[id]
    if not lane then
      ready[#ready + 1] = id
    elseif held[i] then
      lanes_ready[lane], is_changed[lane] = lanes_ready[lane] + 1, true
      ready[#ready + 1], released[#released + 1] = id, id
    else
      is_changed[lane] = true
      local behind = lanes_behind[lane]
      if lanes_first[lane] == behind and has_room(lane) then
        take_slot(lane)
        ready[#ready + 1] = id
      else
        local place = lane_groups[lane] .. '\n' .. behind
        lanes_behind[lane] = behind + 1
        waiting[#waiting + 1], waiting[#waiting + 2] = place, id
        places[#places + 1], places[#places + 2] = id, place
      end
    end
  end
  if #waiting > 0 then
    redis.call('HSET', keys.lines, unpack(waiting))
    redis.call('HSET', keys.groups, unpack(places))
  end
  if #released > 0 then
    redis.call('HDEL', keys.held, unpack(released))
  end
  return ready
end

-- How many places of a line are read at once, once the first one was empty; and in how many rounds at most.
local READ_BEHIND_EMPTY, MOST_ROUNDS = 100, 100

-- Takes the next message out of each of these lanes, in their order. Returns the ids.
local function take_next(waiting)
  local ids, gone, reach = {}, {}, 1
  for _ = 1, MOST_ROUNDS do
    local names, owners, empty = {}, {}, {}
    for _, lane in ipairs(waiting) do
      local first = lanes_first[lane]
      for place = first, math.min(first + reach, lanes_behind[lane]) - 1 do
        names[#names + 1], owners[#owners + 1] = lane_groups[lane] .. '\n' .. place, lane
      end
    end
    if #names == 0 then
      break
    end
    local served, count = {}, 0
    for i, id in ipairs(redis.call('HMGET', keys.lines, unpack(names))) do
      local lane = owners[i]
      if not served[lane] then
        lanes_first[lane] = lanes_first[lane] + 1
        if id then
          served[lane], count = true, count + 1
          take_slot(lane)
          ids[#ids + 1], gone[#gone + 1] = id, names[i]
        end
      end
    end
    if count == #waiting then
      break
    end
    for _, lane in ipairs(waiting) do
      if not served[lane] and lanes_first[lane] < lanes_behind[lane] then
        empty[#empty + 1] = lane
      end
    end
    waiting, reach = empty, math.max(1, math.floor(READ_BEHIND_EMPTY / math.max(1, #empty)))
  end
  if #gone > 0 then
    redis.call('HDEL', keys.lines, unpack(gone))
    redis.call('RPUSH', keys.ready, unpack(ids))
  end
  return ids
end

-- How many messages a claim can take that are not in the list of ready ids.
local function claimable_in_lines()
  return slots == math.huge and redis.call('HLEN', keys.lines) or 0
end

-- Lets the next message of each changed lane that has room into the list of ready ids, and stores the lanes. Returns how many.
local function store_lanes()
  local waiting, texts, gone = {}, {}, {}
  for lane = 1, #lane_groups do
    if is_changed[lane] and lanes_first[lane] < lanes_behind[lane] and has_room(lane) then
      waiting[#waiting + 1] = lane
    end
  end
  local admitted = #waiting > 0 and #take_next(waiting) or 0
  for lane = 1, #lane_groups do
    if is_changed[lane] then
      local taken, first, behind = lanes_taken[lane], lanes_first[lane], lanes_behind[lane]
      if taken == 0 and first == behind then
        gone[#gone + 1] = lane_groups[lane]
      else
        texts[#texts + 1] = lane_groups[lane]
        texts[#texts + 1] = struct.pack('>I4I4I6I6', taken, lanes_ready[lane], first, behind)
      end
    end
  end
  is_changed = {}
  if #texts > 0 then
    redis.call('HSET', keys.lanes, unpack(texts))
  end
  if #gone > 0 then
    redis.call('HDEL', keys.lanes, unpack(gone))
  end
  return admitted
end
