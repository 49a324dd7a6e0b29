-- Frees an id that is kept because a message with this id was handled.
--
-- KEYS kept partitions
-- ARGV id: text
--      kept_for: number, how long an id is kept, ms
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
-- Returns 1 if the id was kept, 0 if it was not, or had become too old.
--
-- Atomic so that the answer tells whether this call has freed the id. A crash right afterwards leaves the id free.
local function run(keys, args)
  local kept, partitions = keys[1], keys[2]
  local id, kept_for, partitioning = args[1], tonumber(args[2]), args[3]
  local now = Clock.read()
  local time = call('ZSCORE', kept, id)
  if not time then
    Partitioning.check(partitions, partitioning)
    return 0
  end
  -- The only write proves its own permission.
  call('ZREM', kept, id)
  return tonumber(time) + kept_for > now and 1 or 0
end

register('free_id', {}, run)
