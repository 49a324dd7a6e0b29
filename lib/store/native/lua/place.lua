#!lua flags=allow-oom
-- Tells the id of the place that the directory is in, and gives it one if it has none.
--
-- KEYS place
-- ARGV proposed: text, the id to give; empty: none
-- Returns the id; empty if there is none.
--
-- Atomic so that all who propose one get the same. A crash right after leaves the id.

local id = redis.call('HGET', keys.place, 'id')
if id then
  return id
end
if args.proposed ~= '' then
  redis.call('HSET', keys.place, 'id', args.proposed)
end
return args.proposed
