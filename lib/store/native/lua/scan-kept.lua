-- Reads the ids that the queue keeps because their messages were handled, in steps, oldest first.
--
-- KEYS kept
-- ARGV at: text, when the message of the last id of the previous step was handled, ms; empty: the first step
--      name: text, that id; empty: the first step
--      size: number, how many ids to read
-- Returns for how long ids are kept, in ms, then for each id that is not too old: the id, and when its message was handled, ms. Fewer ids than
--      `size`: this was the last step.
--
-- The key expires when the newest id is too old, which shows for how long the queue keeps them. An id that is there throughout all steps is
-- returned at least once: one whose message is handled again moves on to a later step.
--
-- Atomic so that the ids and their age belong together. Writes nothing.
local function run(keys, args)
  local kept = keys[1]
  local at, name, size = args[1], args[2], tonumber(args[3])
  if call('EXISTS', kept) == 0 then
    return { 0 }
  end
  local now = Clock.read()
  local newest = tonumber(call('ZRANGE', kept, '-1', '-1', 'WITHSCORES')[2])
  local kept_for = now + call('PTTL', kept) - newest
  -- Ids that are too old come first.
  local first = max(
    at == '' and 0 or Pages.place_behind(kept, tonumber(at), name),
    call('ZCOUNT', kept, '-inf', format('%.0f', now - kept_for))
  )
  local reply, rows = { kept_for }, call('ZRANGE', kept, first, first + size - 1, 'WITHSCORES')
  for row = 1, #rows, 2 do
    reply[#reply + 1], reply[#reply + 2] = rows[row], tonumber(rows[row + 1])
  end
  return reply
end

register('scan_kept', { 'no-writes' }, run)
