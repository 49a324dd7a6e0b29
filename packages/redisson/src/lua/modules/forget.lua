-- Forgets what is kept for an entry; offered.lua describes what that is.

-- Raises an error before the first write if a key has another type, or the user may not change what is kept for entries.
function Forget.check(q)
  call('HLEN', q.offered)
  call('HLEN', q.values)
  call('ZCARD', q.repeated)
  Permissions.check('HDEL', q.offered, 'HGET', q.values, 'HDEL', q.values, 'ZREM', q.repeated)
end

function Forget.run(q, id, record)
  call('HDEL', q.offered, id)
  local value = Entry.value(Offered.entry_of(record))
  local digest = value and Offered.digest_of(value)
  if digest and call('HGET', q.values, digest) == id then
    call('HDEL', q.values, digest)
  elseif digest then
    call('ZREM', q.repeated, Offered.place_of(digest, id, record))
  end
end
