#!lua
-- Takes new messages in.
--
-- KEYS delayed messages ready claims leases attempts dead errors
-- ARGV deadline: number, instant in ms, 0: none
--      channel: text, of announcements
--      max_messages: number, most messages in the queue, 0: no limit
--      ...: for each offer: id, due ('+' and a delay, or '@' and an instant, in ms), on duplicate ('keep', 'replace' or 'reject'),
--        body
-- Returns for each offer its due in ms (0: there is none); then, for each that was not created, its place (from 1) and what became
--      of it: 'kept', 'replaced', 'rejected' or 'full'.
--
-- Atomic because an id must be looked up and taken in one step, and because a due time that is stored but not announced
-- would be found late. A crash right after leaves the messages stored; a lost announcement costs a check interval.
-- Without enough memory the server refuses this script before it starts.
--@include clock
--@include deadline
--@include permission
--@include record
--@include lowest
--@include announce
--@include offers
--@include take-out

local now, now_micros = read_clock()
check_deadline(args.deadline, now)
local earliest_before = lowest(keys.delayed)
local size = args.max_messages > 0 and redis.call('HLEN', keys.messages) or 0
local request = { first = FIRST, max_messages = args.max_messages, size = size, now_micros = now_micros }
local plan = decide_offers(keys, request, record_due)
local scores, bodies, replaced = plan.scores, plan.bodies, plan.replaced
if #bodies == 0 then
  return plan.receipts
end

local records = {}
for i, body in ipairs(bodies) do
  records[2 * i - 1], records[2 * i] = scores[2 * i], pack_record(scores[2 * i - 1], now, body)
end

if #replaced > 0 then
  check_take_out(keys)
end
check_permissions('ZADD', keys.delayed, 'HSET', keys.messages)
announce(args.channel, earliest_before, plan.earliest, now)

for _, id in ipairs(replaced) do
  take_out(keys, id)
end
redis.call('ZADD', keys.delayed, unpack(scores))
redis.call('HSET', keys.messages, unpack(records))
return plan.receipts
