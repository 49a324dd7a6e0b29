-- A Java client takes or removes a message without telling anyone, so what is kept for it must be found by looking.
--@include native/permission
--@include native/read-within
--@include entry
--@include offered
--@include state
--@include forget

-- Each message is searched for among the values in the target list, so nothing is looked for while more wait there.
local MOST_WAITING = 1000
local MOST_BYTES_READ = 1048576

-- How many more messages are kept than wait in Redisson's keys: Java must have taken at least so many.
local function surely_taken()
  return redis.call('HLEN', keys.offered) - redis.call('ZCARD', keys.timeouts) - redis.call('LLEN', keys.target)
end

-- Raises an error before the first write if a key that is needed to forget messages has another type, or the user may not read
-- or change it.
local function check_forget_taken()
  check_permissions(
    'HRANDFIELD', keys.offered, 'HMGET', keys.offered, 'ZSCORE', keys.timeouts, 'LPOS', keys.target
  )
  check_forget()
end

-- Examines some messages at random, about `count`, and forgets those that Java has taken.
local function forget_taken(count)
  if count <= 0 or redis.call('LLEN', keys.target) > MOST_WAITING then
    return
  end
  local ids = redis.call('HRANDFIELD', keys.offered, count)
  local records = read_within(#ids, MOST_BYTES_READ, function(first, last)
    return redis.call('HMGET', keys.offered, unpack(ids, first, last))
  end)
  for i, record in ipairs(records) do
    if record then
      local entry = entry_of(record)
      if offered_state(entry, entry_value(entry) or '') == 'taken' then
        forget_offered(ids[i], record)
      end
    end
  end
end
