-- Reads what the queue remembers of handled messages, in steps.
--
-- KEYS handled history
-- ARGV cursor: text, from the previous call, empty: the first step
--      size: number, roughly how many entries to read; a small hash is read as a whole
-- Returns the next cursor (empty: this was the last step), for how long entries are kept, in ms, then for each entry that is not too old: its
--      id, and what remember.lua has stored.
--
-- The key expires when the newest entry is too old, which shows for how long the queue keeps them. An entry that exists throughout all steps
-- is returned at least once, because HSCAN guarantees that. A step ends early once it has read 1 MiB.
--
-- Atomic so that the entries and their age belong together. Writes nothing.
local function run(keys, args)
  local handled, history = keys[1], keys[2]
  local cursor, size = args[1], tonumber(args[2])
  if call('ZCARD', handled) == 0 then
    return { '', 0 }
  end
  local now = Clock.read()
  local newest = -tonumber(call('ZRANGE', handled, '0', '0', 'WITHSCORES')[2])
  local kept_for = now + call('PTTL', handled) - newest
  local reply = { '', kept_for }
  reply[1] = Pages.scan(history, cursor, size, function(part)
    for at = 1, #part, 2 do
      local handled_at = tonumber(match(part[at + 1], '^%d+') or 0)
      if handled_at + kept_for > now then
        reply[#reply + 1], reply[#reply + 2] = part[at], part[at + 1]
      end
    end
  end)
  return reply
end

register('scan_handled', { 'no-writes' }, run)
