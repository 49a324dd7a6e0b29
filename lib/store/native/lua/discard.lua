-- Removes dead letters for good.
--
-- KEYS dead errors messages attempts partitions followers
-- ARGV deadline: text, instant in ms, 0: none
--      by: text, 'id' or 'oldest'
--      value: text, the id, or the maximum number of letters (1-1000)
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
-- Returns how many were removed.
--
-- Atomic so that no part of a letter stays behind. A crash right afterwards leaves the letters gone.
local function run(keys, args)
  local q = {
    dead = keys[1], errors = keys[2], messages = keys[3], attempts = keys[4], partitions = keys[5], followers = keys[6],
  }
  local deadline, by, value, partitioning = args[1], args[2], args[3], args[4]
  Clock.check(deadline, (Clock.read()))
  Dead.check(q)
  call('HLEN', q.followers)
  Permissions.check('HDEL', q.followers)
  local ids = Dead.select(q, by, value, partitioning)
  if #ids > 0 then
    Dead.remove(q, ids)
    -- A process of an older version may have made a message with a follower a dead letter.
    call('HDEL', q.followers, unpack(ids))
  end
  return #ids
end

register('discard', { 'allow-oom' }, run)
