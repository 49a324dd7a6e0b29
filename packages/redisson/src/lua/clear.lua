-- Removes every message in every state, no matter who offered it.
--
-- KEYS timeouts entries target offered values repeated messages claims attempts errors delayed leases dead ready wake
-- ARGV deadline: text, instant in ms, 0: none
-- Returns how many messages were removed.
--
-- Atomic so that no part of a message stays behind. Keys are unlinked: the server frees them in the background, however
-- large they are. A crash right after leaves the queue empty.
local function run(keys, args)
  local q = {
    timeouts = keys[1], entries = keys[2], target = keys[3], offered = keys[4], values = keys[5], repeated = keys[6],
    messages = keys[7], claims = keys[8], attempts = keys[9], errors = keys[10], delayed = keys[11], leases = keys[12],
    dead = keys[13], ready = keys[14], wake = keys[15],
  }
  local deadline = args[1]
  Clock.check(deadline, (Clock.read()))
  for _, key in ipairs({ q.offered, q.values, q.claims, q.attempts, q.errors }) do call('HLEN', key) end
  for _, key in ipairs({ q.delayed, q.leases, q.dead, q.repeated }) do call('ZCARD', key) end
  for _, key in ipairs({ q.entries, q.ready, q.wake }) do call('LLEN', key) end
  local count = call('ZCARD', q.timeouts) + call('LLEN', q.target) + call('HLEN', q.messages)
  call('UNLINK', unpack(keys))
  return count
end

register('clear', { 'allow-oom' }, run)
