const NOW = `
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))`;

/**
 * Turns a draft into an order. Its timeout may have come already; then the order is listed as cancelled.
 *
 * KEYS: the order, the list of orders. ARGV: id, due time in ms.
 * Returns the order's fields; nil if there is no such order.
 */
export const CONFIRM = `
if redis.call('EXISTS', KEYS[1]) == 0 then return nil end
${NOW}
redis.call('HSET', KEYS[1], 'placedAt', now, 'dueAt', ARGV[2])
if redis.call('HGET', KEYS[1], 'listed') == '1' then
  redis.call('PERSIST', KEYS[1])
  redis.call('ZADD', KEYS[2], time[1] * 1000000 + time[2], ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1001)
end
return redis.call('HGETALL', KEYS[1])`;

/**
 * Pays or cancels orders that are neither paid nor cancelled.
 *
 * KEYS: the number of cancelled orders, the orders. ARGV: for each order 'paid' or 'cancelled'; when its message was due, in ms, or
 * ''; '1' if that message was held up, else '0'.
 * Returns for each order 1 if this call decided the outcome, else 0, and the order's fields; nil if there is no such order.
 */
export const SETTLE = `
${NOW}
local function settle(order, outcome, due, heldUp)
  local status = redis.call('HGET', order, 'status')
  if not status then return false end
  if status ~= 'unpaid' then return { 0, redis.call('HGETALL', order) } end
  redis.call('HSET', order, 'status', outcome, 'settledAt', now)
  if due ~= '' then redis.call('HSET', order, 'lateBy', now - due, 'heldUp', heldUp) end
  if outcome == 'cancelled' then redis.call('INCR', KEYS[1]) end
  return { 1, redis.call('HGETALL', order) }
end
local settled = {}
for i = 2, #KEYS do
  local at = (i - 2) * 3
  settled[i - 1] = settle(KEYS[i], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
end
return settled`;

/**
 * Notes that an attempt has failed.
 *
 * KEYS: the order. ARGV: the attempt.
 * Returns the order's fields; nil if there is no such order.
 */
export const NOTE_FAILURE = `
if redis.call('EXISTS', KEYS[1]) == 0 then return nil end
redis.call('HSET', KEYS[1], 'failedAttempts', ARGV[1])
return redis.call('HGETALL', KEYS[1])`;
