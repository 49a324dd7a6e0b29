#!lua flags=allow-oom
-- Removes the registration of a queue, if it is still the one that the caller saw.
--
-- KEYS registered
-- ARGV queue: text, its name
--      stamp: text, of the registration
-- Returns 1 if it was removed, 0 if there is another one, or none.
--
-- Atomic so that a registration made meanwhile stays. A crash right after leaves the queue unregistered, which is true of an
-- empty one.

if redis.call('HGET', keys.registered, args.queue) ~= args.stamp then
  return 0
end
redis.call('HDEL', keys.registered, args.queue)
return 1
