-- Announces to every scheduler that something falls due earlier than all that they know of: "<due ms> <ms from now>".
-- Publishes nothing otherwise, because schedulers would wake for nothing. Called before the first write, because a user's ACL
-- can refuse it; nobody can act on it before the script has ended.
local function announce(channel, before, due, now)
  if due and (before == nil or due < before) then
    redis.call('PUBLISH', channel, string.format('%.0f %.0f', due, math.max(0, due - now)))
  end
end
