-- Stores new messages like Redisson's offer does, and keeps their ids beside them.
--
-- KEYS timeouts entries target offered values repeated sequence messages
-- ARGV deadline: text, instant in ms, 0: none
--      channel: text, of announcements, Redisson's
--      max_messages: number, maximum number of messages in the queue, 0: no limit
--      format: text, of entries, 'Bc0Lc0' or 'dLc0'
--      beside: text, '1': also if the last entry has the other format; else this is refused with FORMAT
--      ...: for each offer, as in offer of the native layout, then the digest of its body: the first 16 hexadecimal digits of its SHA-1
-- Returns the same as offer of the native layout.
--
-- Atomic because an id must be looked up and taken in one step, and because Redisson's sorted set and list must agree. A crash
-- right after leaves the messages stored; a lost announcement costs a check interval.
-- If memory is short, the server refuses this function before it starts.
local function run(keys, args)
  local q = {
    timeouts = keys[1], entries = keys[2], target = keys[3], offered = keys[4], values = keys[5], repeated = keys[6],
    sequence = keys[7], messages = keys[8], channel = args[2], max_messages = tonumber(args[3]), format = args[4],
    beside = args[5],
  }
  local deadline = args[1]
  local now, now_micros = Clock.read()
  Clock.check(deadline, now)
  local plan = StoreOffers.plan(q, args, now_micros)
  if #plan.scores > 0 then
    StoreOffers.announce(q, plan)
    StoreOffers.run(q, plan, now)
  end
  return plan.receipts
end

register('offer', {}, run)
