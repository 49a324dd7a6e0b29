#!lua flags=allow-oom
-- Removes dead letters for good.
--
-- KEYS dead errors messages attempts partitions followers
-- ARGV deadline: number, instant in ms, 0: none
--      by: text, 'id' or 'oldest'
--      value: text, the id, or the maximum number of letters (1-1000)
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
-- Returns how many were removed.
--
-- Atomic so that no part of a letter stays behind. A crash right after leaves the letters gone.
--@include clock
--@include permission
--@include dead
--@include select-dead

check_deadline(args.deadline, (read_clock()))
check_dead()
redis.call('HLEN', keys.followers)
check_permissions('HDEL', keys.followers)
local ids = select_dead()
if #ids > 0 then
  remove_dead(ids)
  -- A process of an older version may have buried a message that has a follower.
  redis.call('HDEL', keys.followers, unpack(ids))
end
return #ids
