-- Refuses a call if its caller and this partition know different partitionings: one of them has missed a change, so the message may belong
-- elsewhere. The refusal names this partition's partitioning. If `known`, the caller's partitioning, is empty, the queue cannot have
-- several partitions, so nothing is checked. A queue that has never had several stores no partitioning, which means '0 1'.
function Partitioning.check(key, known)
  local stored = known ~= '' and (call('GET', key) or '0 1')
  if stored and stored ~= known then
    error({ err = 'REPARTITIONED ' .. stored .. ', which is not the partitioning of the caller; nothing was written' })
  end
end
