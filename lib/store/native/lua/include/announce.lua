--@include publish

-- Announces to every scheduler that something falls due earlier than all that they know of: "<due ms> <ms from now>".
-- Publishes nothing otherwise, because schedulers would wake for nothing.
local function announce(command, channel, before, due, now)
  if due and (before == nil or due < before) then
    publish(command, channel, string.format('%.0f %.0f', due, math.max(0, due - now)))
  end
end
