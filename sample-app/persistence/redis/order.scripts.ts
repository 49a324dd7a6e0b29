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
 * Pays or cancels an order that is neither paid nor cancelled.
 *
 * KEYS: the order, the number of cancelled orders. ARGV: 'paid' or 'cancelled'; when its message was due, in ms, or ''.
 * Returns 1 if this call decided the outcome, else 0, and the order's fields; nil if there is no such order.
 */
export const SETTLE = `
local status = redis.call('HGET', KEYS[1], 'status')
if not status then return nil end
local won = 0
if status == 'unpaid' then
  ${NOW}
  redis.call('HSET', KEYS[1], 'status', ARGV[1], 'settledAt', now)
  if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'lateBy', now - ARGV[2]) end
  if ARGV[1] == 'cancelled' then redis.call('INCR', KEYS[2]) end
  won = 1
end
return { won, redis.call('HGETALL', KEYS[1]) }`;

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
