#!lua flags=allow-oom
-- Removes the registration of a queue, if it is still the one that the caller saw, and its name if nothing is in the queue and no
-- process has ever handled it by that name.
--
-- KEYS registered names handled
-- ARGV queue: text, its name
--      stamp: text, of the registration
--      name: text, kept or forgotten
-- Returns 1 if the registration was removed, 0 if there is another one, or none.
--
-- Atomic so that a registration made meanwhile stays, with its name. A crash right after leaves the queue unregistered, which is true of
-- an empty one.

if redis.call('HGET', keys.registered, args.queue) ~= args.stamp then
  return 0
end
local is_forgotten = args.name == 'forgotten' and not redis.call('ZSCORE', keys.handled, args.queue)
-- The first write proves by itself that it is permitted.
if is_forgotten then
  redis.call('ZREM', keys.names, args.queue)
end
redis.call('HDEL', keys.registered, args.queue)
return 1
