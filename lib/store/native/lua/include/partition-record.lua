-- The record of partitions that this partition has: '<epoch> <count>', then former counts if there are any. A queue that never had
-- several partitions has none.
local function stored_record()
  return redis.call('GET', keys.partitions) or '0 1'
end
