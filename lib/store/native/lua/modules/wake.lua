-- The wake-up signal: the only element of the list `wake`. Idle consumers wait for it.

-- Leaves the wake-up signal for one idle consumer, unless it is already there.
function Wake.signal(key)
  if call('LLEN', key) == 0 then
    call('RPUSH', key, '1')
  end
end

-- Raises an error before the first write if the key of the signal has the wrong type, or if the user may not leave the signal.
function Wake.check(q)
  call('LLEN', q.wake)
  Permissions.check('RPUSH', q.wake)
  q.is_paused = call('GET', q.paused)
end

-- Leaves the signal for messages that have become ready, unless the queue is paused: then resuming it wakes a consumer for them.
function Wake.signal_ready(q, count)
  if count > 0 and not q.is_paused then
    Wake.signal(q.wake)
  end
end

-- Raises an error before the first write if messages cannot be released.
function Wake.check_release(q)
  call('LLEN', q.ready)
  Permissions.check('LPUSH', q.ready)
  Wake.check(q)
end

-- Releases messages: they become ready again, ahead of all others.
function Wake.release(q, ids)
  for i = #ids, 1, -1 do
    call('LPUSH', q.ready, ids[i])
  end
  Wake.signal_ready(q, #ids)
end
