-- Makes this partition and the caller agree on the queue's partitioning: the newer of theirs applies. A partitioning is '<epoch> <number of
-- partitions>', then any former numbers. A queue that has never had several partitions stores none.
--
-- KEYS partitions paused
-- ARGV deadline: text, instant in ms, 0: none
--      known: text, the partitioning that the caller knows
--      next: text, the partitioning that is to replace `known`, unless somebody else has replaced it; empty: none
--      pause: text, '1' or '0': whether to pause this partition if it takes a partitioning; empty: leave it as it is
--      channel: text, on which to announce that this partition has taken a partitioning; empty: none
--      database: text, the database's number, or cluster, where announcements are sharded
-- Returns this partition's partitioning after the call, and whether it is paused (0 or 1).
--
-- Atomic so that `next` replaces only the partitioning that the caller knows. New partitionings are made only in partition 0. A crash right
-- afterwards leaves the others with the former one: each refuses calls from processes that know the new one, until one of them tells it.

-- True if `one` is the newer partitioning. A value in another form was written by somebody else, and is kept.
local function is_newer(one, other)
  local epoch, count = match(one, '^(%d+) (%d+)')
  local other_epoch, other_count = match(other, '^(%d+) (%d+)')
  if not epoch or not other_epoch then
    return false
  end
  if epoch == other_epoch then
    return tonumber(count) > tonumber(other_count)
  end
  return tonumber(epoch) > tonumber(other_epoch)
end

local function run(keys, args)
  local partitions, paused = keys[1], keys[2]
  local deadline, known, next, pause, channel, database = args[1], args[2], args[3], args[4], args[5], args[6]
  Clock.check(deadline, (Clock.read()))
  local stored = call('GET', partitions) or '0 1'
  local newest = is_newer(known, stored) and known or stored
  if next ~= '' and newest == known then
    newest = next
  end
  local is_paused = call('GET', paused) and '1' or '0'
  if newest ~= stored then
    local is_pause_changed = pause ~= '' and pause ~= is_paused
    Permissions.check('SET', partitions)
    if is_pause_changed then
      Permissions.check(pause == '1' and 'SET' or 'DEL', paused)
    end
    if channel ~= '' then
      -- The announcement does not name the database: a cluster has only one, and elsewhere needless reads of the partitioning cost little.
      if call(Channel.command(database), channel, 'partitions') == 0 and database == 'cluster' then
        call('PUBLISH', channel, 'partitions')
      end
    end
    call('SET', partitions, newest)
    if is_pause_changed then
      is_paused = pause
      if is_paused == '1' then
        call('SET', paused, '1')
      else
        call('DEL', paused)
      end
    end
  end
  return { newest, tonumber(is_paused) }
end

register('agree', { 'allow-oom' }, run)
