-- The end of a list script: the messages on a page, and the place where it ends.
--@include read-within

-- How many bytes of records a page may have; a single one may be larger.
local MOST_BYTES = 1048576

-- The records of the first of these messages, at most `most`, as far as they fit on a page; false where there is none.
local function read_records(ids, most)
  return read_within(math.min(#ids, most), MOST_BYTES, function(first, last)
    return redis.call('HMGET', keys.messages, unpack(ids, first, last))
  end)
end

-- The failed attempts of the first `count` of these messages.
local function read_failed(ids, count)
  local failed = count > 0 and redis.call('HMGET', keys.attempts, unpack(ids, 1, count)) or {}
  for i, text in ipairs(failed) do
    failed[i] = tonumber(text or 0) or 0
  end
  return failed
end

local function add_listed(reply, message)
  local last = #reply
  reply[last + 1], reply[last + 2], reply[last + 3] = message.id, message.record, message.failed
  reply[last + 4], reply[last + 5] = message.instant or 0, message.cause or false
end
