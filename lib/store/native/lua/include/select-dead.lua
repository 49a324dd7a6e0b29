-- The selected dead letters: the one with an id, or some of the oldest. Raises an error if the key is not a sorted set.
local function select_dead()
  if args.by == 'id' then
    return redis.call('ZSCORE', keys.dead, args.value) and { args.value } or {}
  end
  return redis.call('ZRANGE', keys.dead, 0, tonumber(args.value) - 1)
end
