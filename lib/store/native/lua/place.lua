-- Returns the id of this set of queues, which share a database and a prefix. Sets the id if there is none.
--
-- KEYS place
-- ARGV proposed: text, the id to set; empty: none
-- Returns the id; empty if there is none.
--
-- Atomic so that all who propose an id get the same one. A crash right afterwards leaves the id.
local function run(keys, args)
  local place, proposed = keys[1], args[1]
  local id = call('HGET', place, 'id')
  if id then
    return id
  end
  if proposed ~= '' then
    call('HSET', place, 'id', proposed)
  end
  return proposed
end

register('place', { 'allow-oom' }, run)
