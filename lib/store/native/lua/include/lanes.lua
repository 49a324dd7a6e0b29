-- Lanes: of one group, at most so many messages have a slot at once. A message takes a slot when it becomes ready, and has it until it
-- is settled; with 'hold', also while it waits for a retry. Due messages without a slot wait in the line of their group, in the order
-- in which they fell due. Groups take turns: one message of a group at most is in the list of ready ids, behind those of the others,
-- unless nobody else is ready. So where a group has room, nothing waits in its line.
--
-- lanes  group → '1': one slot is taken, and there is no other; or how many slots are taken, and how many of these by ready messages.
--        If any is of the second kind, there is a field '' besides
-- line   with the group appended, a list: the ids that wait. These keys are not declared, and in the slot of the others.
--        Packed into a field of lanes, they would cost nearly twice as much: Redis' Lua hashes every byte of a text.
-- held   id → group, of delayed messages that have a slot
--
-- args.lanes: '<how many slots a group has, 0: no limit> <hold or pass>'
--@include permission

local slots, on_retry = string.match(args.lanes, '^(%d+) (%a+)$')
slots = slots == '0' and math.huge or tonumber(slots)

-- Raises an error before the first write if the user may not change what store_lanes changes. That lanes have the right type, reading
-- them proves.
local function check_lanes()
  redis.call('LLEN', keys.ready)
  check_permissions('HSET', keys.lanes, 'HDEL', keys.lanes, 'LPOP', keys.line, 'RPUSH', keys.ready)
end

-- What is stored of the lanes of these groups.
local function read_texts(groups)
  return #groups > 0 and redis.call('HMGET', keys.lanes, unpack(groups)) or {}
end

-- The lanes that a call may change, by group and by id, and in the order in which they were opened.
local lanes, lane_of, opened = {}, {}, {}

local function open_lane(group, text)
  local lane = lanes[group]
  if not lane then
    lane = { group = group, stored = text, taken = 0, ready = 0, added = 0 }
    -- Any other text was written by somebody else: nothing is taken then.
    if text == '1' then
      lane.taken = 1
    elseif text and #text == 8 then
      lane.taken, lane.ready = struct.unpack('>I4I4', text)
    end
    lanes[group], opened[#opened + 1] = lane, lane
  end
  return lane
end

-- Opens the lanes of these messages, which are in these groups. Those without a group, which somebody else has left, have none.
local function open_lanes(ids, groups)
  local texts = read_texts(groups)
  for i, id in ipairs(ids) do
    lane_of[id] = groups[i] ~= '' and open_lane(groups[i], texts[i])
  end
end

-- These messages give their slots back.
local function leave_lanes(ids)
  for _, id in ipairs(ids) do
    local lane = lane_of[id]
    if lane then
      lane.is_changed, lane.taken = true, math.max(0, lane.taken - 1)
    end
  end
end

-- The message is ready no more.
local function leave_ready(id)
  local lane = lane_of[id]
  if lane then
    lane.is_changed, lane.ready = true, math.max(0, lane.ready - 1)
  end
end

-- These messages are ready again, with the slots that they had.
local function return_ready(ids)
  for _, id in ipairs(ids) do
    local lane = lane_of[id]
    if lane then
      lane.is_changed, lane.ready = true, lane.ready + 1
    end
  end
end

-- A lane may let one more message into the list of ready ids. With a single slot, nobody counts how many are there.
local function has_room(lane)
  return lane.taken < slots and (lane.taken == 0 or lane.ready == 0)
end

local function take_slot(lane)
  lane.ready = lane.taken == 0 and 1 or lane.ready + 1
  lane.taken, lane.is_changed = lane.taken + 1, true
end

-- In place of a line, somebody else may have stored something. An error would stop the script between two writes: there is no line then.
local function run_on_line(command, group, ...)
  local reply = redis.pcall(command, keys.line .. group, ...)
  return (type(reply) ~= 'table' or not reply.err) and reply
end

-- In place of a group: the lane of some group has more than one slot, or had.
local ANY_WIDE = ''

-- What is stored of a lane; false: nothing.
local function encode_lane(lane)
  if lane.taken == 1 and slots == 1 then
    return '1'
  end
  return lane.taken > 0 and struct.pack('>I4I4', lane.taken, lane.ready)
end

-- How many messages have come into the list of ready ids since lanes were stored.
local admitted_count = 0

local function count_admitted()
  admitted_count = admitted_count + 1
end

-- Lets the next message of each changed lane that has room into the list of ready ids, and stores the lanes. Returns how many have come there.
local function store_lanes()
  local admitted, texts, gone, any_wide = {}, {}, {}, false
  for _, lane in ipairs(opened) do
    local following = lane.is_changed and has_room(lane) and run_on_line('LPOP', lane.group)
    if following then
      take_slot(lane)
      admitted[#admitted + 1] = following
    end
    local text = encode_lane(lane)
    if lane.is_changed and text ~= lane.stored then
      if text then
        texts[#texts + 1], texts[#texts + 2] = lane.group, text
        any_wide = any_wide or text ~= '1'
      else
        gone[#gone + 1] = lane.group
      end
      lane.stored = text
    end
    lane.is_changed = false
  end
  if #admitted > 0 then
    redis.call('RPUSH', keys.ready, unpack(admitted))
  end
  if any_wide then
    texts[#texts + 1], texts[#texts + 2] = ANY_WIDE, '1'
  end
  if #texts > 0 then
    redis.call('HSET', keys.lanes, unpack(texts))
  end
  if #gone > 0 then
    redis.call('HDEL', keys.lanes, unpack(gone))
    if redis.call('HLEN', keys.lanes) == 1 then
      redis.call('HDEL', keys.lanes, ANY_WIDE)
    end
  end
  -- Whoever has come there may have left again in the same call.
  local count = #admitted + (admitted_count > 0 and math.min(admitted_count, redis.call('LLEN', keys.ready)) or 0)
  admitted_count = 0
  return count
end
