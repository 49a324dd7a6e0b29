-- Scores of sorted sets: due times and ends of leases.

-- Returns the lowest score, in whole ms; nil if the set is empty. Raises an error if the key is not a sorted set.
function Scores.lowest(key)
  local score = tonumber(call('ZRANGE', key, '0', '0', 'WITHSCORES')[2])
  return score and floor(score)
end

-- Returns the lower of two numbers, either of which may be nil.
function Scores.lower(one, other)
  return one and other and min(one, other) or one or other
end

-- Messages of one group that fall due in the same millisecond become ready in the order of their offers: each gets a score at least 0.0003
-- ms above the previous one's, up to 0.9996 ms above the due time. Scores can tell these fractions apart until the year 2039. All further
-- messages get the highest score, and are ordered by id. Messages of different groups may have the same score.
local LAST = 3332

-- Returns the score of the call's next message with this due time. It has at most four decimals, because Redis takes long to write and read
-- arbitrary numbers. `last_of`: the last score that the call has given, by due time, and the groups that have it; empty at first.
function Scores.in_order(key, last_of, due, group)
  local last = last_of[due]
  if not last then
    local score = call('ZRANGE', key, '(' .. due + 1, due, 'BYSCORE', 'REV', 'LIMIT', '0', '1', 'WITHSCORES')[2]
    last = { fractions = score and ceil((score - due) / 0.0003 - 0.5) or -1, groups = {} }
    last_of[due] = last
  end
  if not last.score or last.groups[group] then
    last.fractions = last.fractions < LAST and last.fractions + 1 or LAST
    last.score = last.fractions > 0 and format('%d.%04d', due, last.fractions * 3) or due
  end
  last.groups[group] = true
  return last.score
end
