-- Messages of a group that fall due in the same millisecond become ready in the order of their offers: each is delayed by a fraction of it
-- more than the one before, whatever groups others have that fall due with it. The fractions are 0.0003, 0.0006 and so on up to 0.9996,
-- which scores tell apart until 2039; what does not fit in comes in the order of ids.

local LAST = 3332

-- How many fractions a message is delayed by that is offered now; 0: nothing falls due in that millisecond.
local function fractions_of_next(due)
  local last = redis.call('ZRANGE', keys.delayed, '(' .. due + 1, due, 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')[2]
  return last and math.min(math.floor((last - due) / 0.0003 + 0.5) + 1, LAST) or 0
end

-- As text with these digits, because any number takes Redis long to write and to read.
local function score_with(due, fractions)
  return fractions > 0 and string.format('%d.%04d', due, fractions * 3) or due
end

-- By the due times of a call: the fractions and the score of the last message, and the groups of all.
local last_of = {}

-- The score of the next message of the call.
local function score_of(due, group)
  local last = last_of[due]
  if not last then
    last = { fractions = fractions_of_next(due), groups = {} }
    last.score = score_with(due, last.fractions)
    last_of[due] = last
  elseif last.groups[group] then
    last.fractions = math.min(last.fractions + 1, LAST)
    last.score = score_with(due, last.fractions)
  end
  last.groups[group] = true
  return last.score
end
