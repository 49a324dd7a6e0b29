-- Finds messages that are kept but in no state, and makes them ready.
-- keys: messages, delayed, ready, claims, dead, wake, paused

-- With more ready messages than this they are not looked through for each part of the queue.
local MOST_READY = 10000

-- `elsewhere`: how many of the messages are in a state that these keys do not tell.
local function is_sound(keys, ready, elsewhere)
  local known = redis.call('ZCARD', keys.delayed) + ready + count_active(keys.claims) + redis.call('ZCARD', keys.dead)
  return redis.call('HLEN', keys.messages) <= known + elsewhere
end

-- The ids in a part of the queue, and the cursor of the next part.
local function read_part(keys, cursor, size)
  local part = redis.call('HSCAN', keys.messages, cursor, 'COUNT', size)
  local ids = {}
  for at = 1, #part[2], 2 do
    ids[#ids + 1] = part[2][at]
  end
  return ids, part[1]
end

-- `cursor` and `size` as in repair.lua; `is_elsewhere(id)`: whether it is in a state that these keys do not tell.
local function repair(keys, cursor, size, is_elsewhere)
  local ids, next_cursor = read_part(keys, cursor, size)
  local lost, ready, holders = {}, nil, nil
  for _, id in ipairs(ids) do
    if not redis.call('ZSCORE', keys.delayed, id) and not redis.call('ZSCORE', keys.dead, id) and not is_elsewhere(id) then
      ready = ready or set_of(redis.call('LRANGE', keys.ready, 0, -1))
      holders = holders or holders_of(keys.claims)
      if not ready[id] and not holders[id] then
        lost[#lost + 1] = id
      end
    end
  end
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
