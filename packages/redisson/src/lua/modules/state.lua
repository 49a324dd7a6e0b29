-- The state of a message that was offered here: 'delayed', 'ready', or 'taken' by a Java consumer.
function State.of(q, entry, value)
  if call('ZSCORE', q.timeouts, entry) then
    return 'delayed'
  end
  return call('LPOS', q.target, value) and 'ready' or 'taken'
end
