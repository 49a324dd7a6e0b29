-- The same as offer.lua, for offers that may replace messages. Most offers may not, and where functions are not to be had, a call
-- pays for each function of its script.
--
-- KEYS timeouts entries target offered values repeated sequence messages
--      delayed ready claims leases attempts dead errors followers
-- ARGV deadline: text, instant in ms, 0: none
--      channel: text, of announcements, Redisson's
--      max_messages: number, maximum number of messages in the queue, 0: no limit
--      format: text, of entries, 'Bc0Lc0' or 'dLc0'
--      beside: text, '1': also if the last entry has the other format; else this is refused with FORMAT
--      ...: for each offer, as in offer of the native layout, then the digest of its body: the first 16 hexadecimal digits of its SHA-1
-- Returns the same as offer of the native layout.
--
-- Atomic as offer.lua. A crash right after leaves the new messages instead of the old ones.
-- If memory is short, the server refuses this function before it starts.
local function run(keys, args)
  local q = {
    timeouts = keys[1], entries = keys[2], target = keys[3], offered = keys[4], values = keys[5], repeated = keys[6],
    sequence = keys[7], messages = keys[8], delayed = keys[9], ready = keys[10], claims = keys[11], leases = keys[12],
    attempts = keys[13], dead = keys[14], errors = keys[15], followers = keys[16], channel = args[2],
    max_messages = tonumber(args[3]), format = args[4], beside = args[5],
  }
  local deadline = args[1]
  local now, now_micros = Clock.read()
  Clock.check(deadline, now)
  local plan = StoreOffers.plan(q, args, now_micros)
  if #plan.scores == 0 then
    return plan.receipts
  end
  if #plan.replaced > 0 then
    TakeOut.check(q)
    Permissions.check('ZREM', q.timeouts, 'LREM', q.target, 'HDEL', q.messages)
    Unlist.check(q.entries)
    Forget.check(q)
  end
  StoreOffers.announce(q, plan)

  for _, id in ipairs(plan.replaced) do
    local old = plan.waiting[id]
    if old then
      Forget.run(q, id, old.record)
    end
  end
  -- What is replaced goes last, so that a log that is torn between two writes has lost neither.
  StoreOffers.run(q, plan, now)
  local unlisted = {}
  for _, id in ipairs(plan.replaced) do
    local old = plan.waiting[id]
    if not old then
      TakeOut.run(q, id)
      call('HDEL', q.messages, id)
    elseif old.state == 'delayed' then
      unlisted[#unlisted + 1] = old.entry
    else
      call('LREM', q.target, 1, old.value)
    end
  end
  Unlist.all(q.entries, unlisted)
  if #unlisted > 0 then
    call('ZREM', q.timeouts, unpack(unlisted))
  end
  return plan.receipts
end

register('offer_replacing', {}, run)
