#!lua
-- The same as offer.lua, for offers that may replace messages. Most offers may not, and a call pays for each function of its
-- script.
--
-- KEYS timeouts entries target offered values repeated sequence messages
--      delayed ready claims leases attempts dead errors followers
-- ARGV as redisson/offer
-- Returns the same as native/offer.
--
-- Atomic as offer.lua. A crash right after leaves the new messages instead of the old ones.
-- If memory is short, the server refuses this script before it starts.
--@include native/clock
--@include native/permission
--@include native/take-out
--@include forget
--@include store-offers
--@include unlist

local now, now_micros = read_clock()
check_deadline(args.deadline, now)
local plan = plan_offers(now_micros)
if #plan.scores == 0 then
  return plan.receipts
end
if #plan.replaced > 0 then
  check_take_out()
  check_permissions('ZREM', keys.timeouts, 'LREM', keys.target, 'HDEL', keys.messages)
  check_unlist(keys.entries)
  check_forget()
end
announce_offers(plan)

for _, id in ipairs(plan.replaced) do
  local old = plan.waiting[id]
  if old then
    forget_offered(id, old.record)
  end
end
-- What is replaced goes last, so that a log that is torn between two writes has lost neither.
store_offers(plan, now)
local unlisted = {}
for _, id in ipairs(plan.replaced) do
  local old = plan.waiting[id]
  if not old then
    take_out(id)
    redis.call('HDEL', keys.messages, id)
  elseif old.state == 'delayed' then
    unlisted[#unlisted + 1] = old.entry
  else
    redis.call('LREM', keys.target, 1, old.value)
  end
end
unlist_all(keys.entries, unlisted)
if #unlisted > 0 then
  redis.call('ZREM', keys.timeouts, unpack(unlisted))
end
return plan.receipts
