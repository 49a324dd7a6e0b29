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

local unlisted = {}
for _, id in ipairs(plan.replaced) do
  local old = plan.waiting[id]
  if not old then
    take_out(id)
    redis.call('HDEL', keys.messages, id)
  else
    if old.state == 'delayed' then
      redis.call('ZREM', keys.timeouts, old.entry)
      unlisted[#unlisted + 1] = old.entry
    else
      redis.call('LREM', keys.target, 1, old.value)
    end
    forget_offered(id, old.record)
  end
end
unlist_all(keys.entries, unlisted)
store_offers(plan, now)
return plan.receipts
