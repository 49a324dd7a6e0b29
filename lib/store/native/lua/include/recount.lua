-- Mends lanes whose counts do not fit what is stored, as damage from outside may leave them.
--@include holders
--@include lanes

-- Whether as many slots are taken as there are messages that have one, and no line waits in vain.
local function are_lanes_sound(ready, active)
  local taken, all = 0, redis.call('HGETALL', keys.lanes)
  for at = 2, #all, 2 do
    if #all[at] ~= 20 then
      return false
    end
    local slots_taken, of_ready, first, behind = struct.unpack('>I4I4I6I6', all[at])
    taken = taken + slots_taken
    if first < behind and slots_taken < slots and (slots_taken == 0 or of_ready == 0) then
      return false
    end
  end
  return taken == ready + active + redis.call('HLEN', keys.held)
end

local function count_slots(ids, of_ready)
  for first = 1, #ids, 1000 do
    local part = { unpack(ids, first, math.min(first + 999, #ids)) }
    read_lanes(part)
    for _, id in ipairs(part) do
      local lane = lane_of[id]
      if lane then
        lanes_taken[lane], lanes_ready[lane] = lanes_taken[lane] + 1, lanes_ready[lane] + of_ready
        is_changed[lane] = true
      end
    end
  end
end

local function names_in(hash)
  local all, names = redis.call('HGETALL', hash), {}
  for at = 1, #all, 2 do
    names[#names + 1] = all[at]
  end
  return names
end

local function recount_lanes()
  redis.call('DEL', keys.lanes)
  local active, held = {}, {}
  for id in pairs(holders_of(keys.claims)) do
    active[#active + 1] = id
  end
  for _, id in ipairs(names_in(keys.held)) do
    if redis.call('ZSCORE', keys.delayed, id) then
      held[#held + 1] = id
    else
      redis.call('HDEL', keys.held, id)
    end
  end
  count_slots(redis.call('LRANGE', keys.ready, 0, -1), 1)
  count_slots(active, 0)
  count_slots(held, 0)
  for _, name in ipairs(names_in(keys.lines)) do
    local group, place = string.match(name, '^([^\n]*)\n(%d+)$')
    if group then
      if not lane_numbers[group] then
        lane_numbers[group] = #lane_groups + 1
        read_lanes_of({ group })
      end
      local lane = lane_numbers[group]
      place, is_changed[lane] = tonumber(place), true
      lanes_first[lane] = lanes_behind[lane] == 0 and place or math.min(lanes_first[lane], place)
      lanes_behind[lane] = math.max(lanes_behind[lane], place + 1)
    end
  end
end
