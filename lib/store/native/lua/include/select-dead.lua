--@include check-partitioning

-- The selected dead letters: the one with an id, or some of the oldest. Raises an error if the key is not a sorted set, or if the
-- letter with that id is not here and may be elsewhere.
local function select_dead()
  if args.by == 'id' then
    if redis.call('ZSCORE', keys.dead, args.value) then
      return { args.value }
    end
    check_partitioning()
    return {}
  end
  return redis.call('ZRANGE', keys.dead, 0, tonumber(args.value) - 1)
end
