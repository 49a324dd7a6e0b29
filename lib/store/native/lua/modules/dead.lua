-- Selects and removes dead letters.

-- Raises an error before the first write if a key of dead letters has the wrong type, or if the user may not remove letters.
function Dead.check(q)
  call('ZCARD', q.dead)
  for _, key in ipairs({ q.errors, q.messages, q.attempts }) do call('HLEN', key) end
  Permissions.check(
    'ZRANGE', q.dead, 'HMGET', q.errors, 'ZREM', q.dead, 'HDEL', q.errors, 'HDEL', q.messages, 'HDEL', q.attempts
  )
end

-- How many of the oldest dead letters a call examines beyond the number to remove, because unreadable ones are kept.
local LOOK_PAST_UNREAD = 100

-- Returns the ids of the oldest dead letters with readable bodies, at most `most`. Unreadable ones are kept, because the right codec may
-- read them: see `UNREAD_ERROR` in `store/consumer-store.ts`.
local function oldest_read(q, most)
  local ids, chosen = call('ZRANGE', q.dead, '0', most + LOOK_PAST_UNREAD - 1), {}
  for first = 1, #ids, LOOK_PAST_UNREAD do
    local errors = call('HMGET', q.errors, unpack(ids, first, min(first + LOOK_PAST_UNREAD - 1, #ids)))
    for i, text in ipairs(errors) do
      if not text or find(text, '"name":"Unreadable', 1, true) ~= 2 then
        chosen[#chosen + 1] = ids[first + i - 1]
      end
      if #chosen == most then
        return chosen
      end
    end
  end
  return chosen
end

function Dead.remove(q, ids)
  call('ZREM', q.dead, unpack(ids))
  for _, key in ipairs({ q.errors, q.messages, q.attempts }) do call('HDEL', key, unpack(ids)) end
end

-- Removes the oldest readable dead letters in excess of `most`, at most 1000 per call. Returns how many were removed.
function Dead.drop_oldest(q, most)
  local excess = min(call('ZCARD', q.dead) - most, 1000)
  local ids = excess > 0 and oldest_read(q, excess) or {}
  if #ids > 0 then
    Dead.remove(q, ids)
  end
  return #ids
end

-- Returns the ids of the selected dead letters: if `by` is 'id', the letter with the id `value`, otherwise the `value` oldest ones. Raises
-- an error if no letter with the id is here, but one may be in another partition.
function Dead.select(q, by, value, partitioning)
  if by ~= 'id' then
    return call('ZRANGE', q.dead, '0', tonumber(value) - 1)
  elseif call('ZSCORE', q.dead, value) then
    return { value }
  end
  Partitioning.check(q.partitions, partitioning)
  return {}
end
