-- The dead letters that are meant: the one of an id, or some of the oldest. Raises if the key is no sorted set.
local function select_dead()
  if args.by == 'id' then
    return redis.call('ZSCORE', keys.dead, args.value) and { args.value } or {}
  end
  return redis.call('ZRANGE', keys.dead, 0, tonumber(args.value) - 1)
end
