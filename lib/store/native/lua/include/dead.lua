-- Removes dead letters.
--@include permission

-- Raises an error before the first write if a key of dead letters has another type, or the user may not remove letters.
local function check_dead()
  redis.call('ZCARD', keys.dead)
  redis.call('HLEN', keys.errors)
  redis.call('HLEN', keys.messages)
  redis.call('HLEN', keys.attempts)
  check_permissions(
    'ZRANGE', keys.dead, 'HMGET', keys.errors, 'ZREM', keys.dead, 'HDEL', keys.errors, 'HDEL', keys.messages,
    'HDEL', keys.attempts
  )
end

-- How many of the oldest dead letters a call looks at beyond those that it is to remove.
local LOOK_PAST_UNREAD = 100

-- The ids of the oldest dead letters whose bodies could be read, at most `most`. The others are kept, because they can be read with the
-- right codec: see `UNREAD_ERROR` in `store/consumer-store.ts`.
local function oldest_read(most)
  local ids = redis.call('ZRANGE', keys.dead, 0, most + LOOK_PAST_UNREAD - 1)
  local chosen = {}
  for first = 1, #ids, LOOK_PAST_UNREAD do
    local last = math.min(first + LOOK_PAST_UNREAD - 1, #ids)
    local errors = redis.call('HMGET', keys.errors, unpack(ids, first, last))
    for i, error in ipairs(errors) do
      if not error or string.find(error, '"name":"Unreadable', 1, true) ~= 2 then
        chosen[#chosen + 1] = ids[first + i - 1]
      end
      if #chosen == most then
        return chosen
      end
    end
  end
  return chosen
end

local function remove_dead(ids)
  redis.call('ZREM', keys.dead, unpack(ids))
  redis.call('HDEL', keys.errors, unpack(ids))
  redis.call('HDEL', keys.messages, unpack(ids))
  redis.call('HDEL', keys.attempts, unpack(ids))
end

-- Removes the oldest dead letters beyond `most`, at most 1000 of them. Returns how many.
local function drop_oldest_dead(most)
  local excess = math.min(redis.call('ZCARD', keys.dead) - most, 1000)
  local ids = excess > 0 and oldest_read(excess) or {}
  if #ids > 0 then
    remove_dead(ids)
  end
  return #ids
end
