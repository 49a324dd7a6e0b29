-- Removes a queue's registration if it is still the one that the caller saw, and the queue's name if asked to forget it and no process has
-- ever handled the queue by that name.
--
-- KEYS registered names handled
-- ARGV queue: text, its name
--      stamp: text, of the registration
--      name: text, 'kept' or 'forgotten': what becomes of the queue's name
-- Returns 1 if the registration was removed, 0 if there is another one, or none.
--
-- Atomic so that a registration made in between stays, with its name. A crash right afterwards leaves the queue unregistered, as an empty
-- queue may be.
local function run(keys, args)
  local registered, names, handled = keys[1], keys[2], keys[3]
  local queue, stamp, name = args[1], args[2], args[3]
  if call('HGET', registered, queue) ~= stamp then
    return 0
  end
  -- The first write proves its own permission.
  if name == 'forgotten' and not call('ZSCORE', handled, queue) then
    call('ZREM', names, queue)
  end
  call('HDEL', registered, queue)
  return 1
end

register('retire', { 'allow-oom' }, run)
