#!lua flags=allow-oom
-- Tells how many partitions a queue has, and changes that if the queue is empty.
--
-- KEYS partitions messages
-- ARGV deadline: number, instant in ms, 0: none
--      count: number, how many partitions the caller wants (1-256)
--      emptied: number, how many there were when the caller found all others empty, 0: it has not looked
-- Returns how many partitions the queue has now.
--
-- Runs on partition 0. Atomic because that partition must still be empty, and nobody else have changed the number. A crash right
-- after leaves the number changed here alone: the other partitions refuse offers until somebody has told them.
--@include clock
--@include deadline

check_deadline(args.deadline, (read_clock()))
-- What is no number was written by somebody else.
local stored = tonumber(redis.call('GET', keys.partitions) or 1) or 0
if stored == args.count or stored ~= args.emptied or redis.call('HLEN', keys.messages) > 0 then
  return stored
end
redis.call('SET', keys.partitions, args.count)
return args.count
