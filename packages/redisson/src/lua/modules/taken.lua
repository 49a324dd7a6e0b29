-- A Java client takes or removes a message without telling anyone, so what is kept for it must be found by looking.

-- Each message is searched for among the values in the target list, so nothing is looked for while more wait there.
local MAX_WAITING = 1000
local MAX_BYTES_READ = 1048576

-- How many more messages are kept than wait in Redisson's keys: Java must have taken at least so many.
function Taken.surely_taken(q)
  return call('HLEN', q.offered) - call('ZCARD', q.timeouts) - call('LLEN', q.target)
end

-- Raises an error before the first write if a key that is needed to forget messages has another type, or the user may not read
-- or change it.
function Taken.check_forget(q)
  Permissions.check(
    'HRANDFIELD', q.offered, 'HMGET', q.offered, 'ZSCORE', q.timeouts, 'LPOS', q.target
  )
  Forget.check(q)
end

-- Examines some messages at random, about `count`, and forgets those that Java has taken.
function Taken.forget(q, count)
  if count <= 0 or call('LLEN', q.target) > MAX_WAITING then
    return
  end
  local ids = call('HRANDFIELD', q.offered, count)
  local records = Ids.read_within(#ids, MAX_BYTES_READ, function(first, last)
    return call('HMGET', q.offered, unpack(ids, first, last))
  end)
  for i, record in ipairs(records) do
    if record then
      local entry = Offered.entry_of(record)
      if State.of(q, entry, Entry.value(entry) or '') == 'taken' then
        Forget.run(q, ids[i], record)
      end
    end
  end
end
