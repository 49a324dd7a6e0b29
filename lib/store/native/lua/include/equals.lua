-- Messages that fall due in the same millisecond become ready in the order of their offers: each is delayed by a fraction of it more
-- than the one before. There are 4096 fractions; what does not fit in comes in the order of ids.

local FRACTION = 1 / 4096

-- Changes due and id of each message to delay, as decide_offers returns them.
local function behind_equals(scores)
  local last = {}
  for at = 1, #scores, 2 do
    local due = scores[at]
    local before = last[due]
      or tonumber(redis.call('ZRANGE', keys.delayed, '(' .. due + 1, due, 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')[2])
    scores[at] = before and math.min(before + FRACTION, due + 1 - FRACTION) or due
    last[due] = scores[at]
  end
end
