-- Refuses a call whose caller goes by another partitioning than this partition: one of the two has missed a change, so the message may
-- belong elsewhere. The caller learns of the other partitioning. Nothing is checked if `known` is empty, because the caller's queue
-- cannot have several partitions. A queue that never had several stores no partitioning, which is '0 1'.
function Partitioning.check(key, known)
  local stored = known ~= '' and (call('GET', key) or '0 1')
  if stored and stored ~= known then
    error({ err = 'REPARTITIONED ' .. stored .. ', which is not the partitioning of the caller; nothing was written' })
  end
end
