-- Redisson's entries and values bear no message id. What was offered here has one, kept beside them until a consumer takes the
-- message:
--   offered   ZSET id → due ms
--   messages  HASH id → record, with the entry as its body
--   values    HASH digest of the value → ids of the messages of that value, a line each
-- A consumer of Java's takes a value without a word; then what is kept here is forgotten later, see taken.lua.

local function digest_of(value)
  return string.sub(redis.sha1hex(value), 1, 16)
end

local function entry_of(record)
  return string.sub(record, 13)
end

local function with_line(lines, id)
  return lines and lines .. '\n' .. id or id
end

-- nil: no other line is left.
local function without_line(lines, id)
  local kept = {}
  for line in string.gmatch(lines or '', '[^\n]+') do
    if line ~= id then
      kept[#kept + 1] = line
    end
  end
  return kept[1] and table.concat(kept, '\n')
end

local function store_lines(values, digest, lines)
  if lines then
    redis.call('HSET', values, digest, lines)
  else
    redis.call('HDEL', values, digest)
  end
end

local function forget_value(keys, id, value)
  local digest = digest_of(value)
  store_lines(keys.values, digest, without_line(redis.call('HGET', keys.values, digest), id))
end

local function forget_offered(keys, id, value)
  redis.call('ZREM', keys.offered, id)
  redis.call('HDEL', keys.messages, id)
  forget_value(keys, id, value)
end

-- Where a message is that was offered here: 'delayed', 'ready', or 'taken' by a consumer of Java's.
local function offered_state(keys, entry, value)
  if redis.call('ZSCORE', keys.timeouts, entry) then
    return 'delayed'
  end
  return redis.call('LPOS', keys.target, value) and 'ready' or 'taken'
end
