#!lua flags=allow-oom
-- Agrees on the partitioning of the queue: the newer one counts, that of this partition or that of the caller. A partitioning is
-- '<epoch> <number of partitions>', then former numbers if there are any; a queue that never had several partitions stores none.
--
-- KEYS partitions paused
-- ARGV deadline: number, instant in ms, 0: none
--      known: text, the partitioning that the caller knows
--      next: text, the one that follows it, if nobody has made another one; empty: none
--      pause: text, whether this partition is paused if it takes a partitioning: '1' or '0'; empty: that does not change
--      channel: text, where to announce that it has taken one; empty: nowhere
--      database: text, of that announcement, as in offer
-- Returns the partitioning that this partition has now, and whether it is paused (0 or 1).
--
-- Atomic because nobody else may have replaced the partitioning that is followed. New ones are made in partition 0 only. A crash
-- right after leaves the other partitions with former ones: each refuses the calls of those who know the new one, until one of them
-- has told it.
--@include clock
--@include permission
--@include announce

-- What is no partitioning was written by somebody else; it stays.
local function is_newer(one, other)
  local epoch, count = string.match(one, '^(%d+) (%d+)')
  local other_epoch, other_count = string.match(other, '^(%d+) (%d+)')
  if not epoch or not other_epoch then
    return false
  end
  if epoch == other_epoch then
    return tonumber(count) > tonumber(other_count)
  end
  return tonumber(epoch) > tonumber(other_epoch)
end

check_deadline(args.deadline, (read_clock()))
local stored = redis.call('GET', keys.partitions) or '0 1'
local newest = is_newer(args.known, stored) and args.known or stored
if args.next ~= '' and newest == args.known then
  newest = args.next
end
local is_paused = redis.call('GET', keys.paused) and '1' or '0'
if newest ~= stored then
  local is_pause_changed = args.pause ~= '' and args.pause ~= is_paused
  check_permissions('SET', keys.partitions)
  if is_pause_changed then
    check_permissions(args.pause == '1' and 'SET' or 'DEL', keys.paused)
  end
  if args.channel ~= '' then
    publish(args.database, args.channel, 'partitions')
  end
  redis.call('SET', keys.partitions, newest)
  if is_pause_changed then
    is_paused = args.pause
    if is_paused == '1' then
      redis.call('SET', keys.paused, '1')
    else
      redis.call('DEL', keys.paused)
    end
  end
end
return { newest, tonumber(is_paused) }
