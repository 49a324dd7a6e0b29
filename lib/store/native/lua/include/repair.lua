-- Finds messages that are stored but in no state, and makes them ready.
--@include permission
--@include holders
--@include ring
--@include set

-- With more ready messages than this, searching all of them for each part of the queue would take too long.
local MOST_READY = 10000

local function is_sound(ready)
  local known = redis.call('ZCARD', keys.delayed) + ready + count_active(keys.claims) + redis.call('ZCARD', keys.dead)
  return redis.call('HLEN', keys.messages) <= known
end

-- The ids of one part of the queue, and the cursor of the next part.
local function read_part()
  local cursor = args.cursor == '' and '0' or args.cursor
  local part = redis.call('HSCAN', keys.messages, cursor, 'COUNT', args.size)
  local ids = {}
  for at = 1, #part[2], 2 do
    ids[#ids + 1] = part[2][at]
  end
  return ids, part[1]
end

-- The ids of one part of the queue that are in no state, and the cursor of the next part.
local function find_lost()
  local ids, next_cursor = read_part()
  local lost, ready, holders = {}, nil, nil
  for _, id in ipairs(ids) do
    if not redis.call('ZSCORE', keys.delayed, id) and not redis.call('ZSCORE', keys.dead, id) then
      ready = ready or set_of(redis.call('LRANGE', keys.ready, 0, -1))
      holders = holders or holders_of(keys.claims)
      if not ready[id] and not holders[id] then
        lost[#lost + 1] = id
      end
    end
  end
  return lost, next_cursor
end

local function repair()
  local ready = redis.call('LLEN', keys.ready)
  if ready > MOST_READY or (args.cursor == '' and is_sound(ready)) then
    return { '' }
  end
  local lost, next_cursor = find_lost()
  if #lost > 0 then
    redis.call('LLEN', keys.wake)
    local is_paused = redis.call('GET', keys.paused)
    check_permissions('RPUSH', keys.ready, 'RPUSH', keys.wake)
    for _, id in ipairs(lost) do
      redis.call('RPUSH', keys.ready, id)
    end
    if not is_paused then
      ring(keys.wake)
    end
  end
  return { next_cursor == '0' and '' or next_cursor, unpack(lost) }
end
