-- The dead letters that are meant: the one of an id, or some of the oldest. Raises if the key is no sorted set.
local function select_dead(dead, by, value)
  if by == 'id' then
    return redis.call('ZSCORE', dead, value) and { value } or {}
  end
  return redis.call('ZRANGE', dead, 0, tonumber(value) - 1)
end
