-- Goes through all claims of the queue. There are never more of them than active messages.
--@include held

-- The tokens of the claims that hold messages, by id.
local function holders_of(claims)
  local holders = {}
  local all = redis.call('HGETALL', claims)
  for at = 1, #all, 2 do
    for _, id in ipairs(ids_held(all[at + 1])) do
      holders[id] = all[at]
    end
  end
  return holders
end

local function count_active(claims)
  local count = 0
  for _ in pairs(holders_of(claims)) do
    count = count + 1
  end
  return count
end
