#!lua
-- Stores new messages like Redisson's offer does, and keeps their ids beside them.
--
-- KEYS timeouts entries target offered values repeated sequence messages
-- ARGV deadline: number, instant in ms, 0: none
--      channel: text, of announcements, Redisson's
--      max_messages: number, maximum number of messages in the queue, 0: no limit
--      format: text, of entries, 'Bc0Lc0' or 'dLc0'
--      beside: text, '1': also if the last entry has the other format; else this is refused with FORMAT
--      ...: for each offer, as in native/offer, then the digest of its body: the first 16 hexadecimal digits of its SHA-1
-- Returns the same as native/offer.
--
-- Atomic because an id must be looked up and taken in one step, and because Redisson's sorted set and list must agree. A crash
-- right after leaves the messages stored; a lost announcement costs a check interval.
-- If memory is short, the server refuses this script before it starts.
--@include native/clock
--@include store-offers

local now, now_micros = read_clock()
check_deadline(args.deadline, now)
local plan = plan_offers(now_micros)
if #plan.scores > 0 then
  announce_offers(plan)
  store_offers(plan, now)
end
return plan.receipts
