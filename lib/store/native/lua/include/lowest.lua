-- The lowest score of a sorted set: the earliest due time, or the earliest end of a lease; nil if it is empty. Raises an error if
-- the key is not a sorted set.
local function lowest(key)
  --@with lanes local score = tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
  --@with lanes if score then
  --@with lanes   return math.floor(score)
  --@with lanes end
  return tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
end

-- The lower of two numbers, either of which may be nil.
local function lower_of(one, other)
  return one and other and math.min(one, other) or one or other
end
