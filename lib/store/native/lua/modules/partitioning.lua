-- Refuses a call whose caller knows another partitioning than this partition: one of the two has missed a change, so the message may belong
-- elsewhere. The refusal names this partition's partitioning. Checks nothing if `known` is empty, because then the caller's queue cannot
-- have several partitions. A queue that never had several stores no partitioning, which is '0 1'.
function Partitioning.check(key, known)
  local stored = known ~= '' and (call('GET', key) or '0 1')
  if stored and stored ~= known then
    error({ err = 'REPARTITIONED ' .. stored .. ', which is not the partitioning of the caller; nothing was written' })
  end
end
