-- The numbers of entries, and of the ids of messages that have none.

-- One more than the last number: without gaps, the numbers of two entries tell how far apart they are. The first one is the time in
-- microseconds, so that numbers ascend even if the last one is lost.
function Sequence.next(last, now_micros)
  return last and tonumber(last) and tonumber(last) + 1 or now_micros
end

-- The same, but a number that was never given out, even if a failover lost the latest ones.
function Sequence.unused(last, now_micros)
  return max(now_micros, Sequence.next(last, now_micros))
end

-- Without an expiry, a queue that is used only once would leave the number forever.
local SEQUENCE_KEPT_MS = 86400000

function Sequence.store(key, sequence)
  call('SET', key, format('%.0f', sequence), 'PX', SEQUENCE_KEPT_MS)
end
