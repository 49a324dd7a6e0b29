-- Extends leases. A lease covers all messages that a token holds, so a call names all of them. Messages that it does not name are unknown
-- to the consumer, and become ready again.
--
-- KEYS claims leases ready wake paused
--      | messages permits backlog held
-- ARGV lease: number, in ms, from now
--      | groups: text, as in modules/groups.lua
--      ...: for each message: id, token of the claim that holds it
-- Returns the positions, from 1, of messages that are no longer held. Ids would be ambiguous: after a message was replaced, a call may
--      name its id with both the old and the new claim.
--
-- Atomic so that no lease is extended for a claim that ends at the same moment. A crash right afterwards leaves the leases to expire.
local function run(keys, args)
  local q = {
    claims = keys[1], leases = keys[2], ready = keys[3], wake = keys[4], paused = keys[5], messages = keys[6], permits = keys[7],
    backlog = keys[8], held = keys[9],
  }
  local lease, groups = tonumber(args[1]), q.permits and args[2]
  local first = groups and 3 or 2
  local _, micros = Clock.read()
  local deadline = format('%.0f', Clock.after(lease, micros))

  local named, tokens = {}, {}
  for at = first, #args, 2 do
    local id, token = args[at], args[at + 1]
    if not named[token] then
      named[token] = {}
      tokens[#tokens + 1] = token
    end
    named[token][#named[token] + 1] = id
  end

  local deadlines, strays, left, still_held = {}, {}, {}, {}
  for _, token in ipairs(tokens) do
    local kept, known, held_ids = {}, Ids.set(named[token]), Ids.of(call('HGET', q.claims, token) or '\n')
    still_held[token] = Ids.set(held_ids)
    for _, id in ipairs(held_ids) do
      local list = known[id] and kept or strays
      list[#list + 1] = id
    end
    if #kept > 0 then
      deadlines[#deadlines + 1], deadlines[#deadlines + 2] = deadline, token
    end
    if #kept < #held_ids then
      left[token] = #kept > 0 and Ids.text(kept) or '\n'
    end
  end
  local lost = {}
  for at = first, #args, 2 do
    if not still_held[args[at + 1]][args[at]] then
      lost[#lost + 1] = (at - first) / 2 + 1
    end
  end

  call('ZCARD', q.leases)
  Permissions.check('ZADD', q.leases)
  if #strays > 0 then
    Claims.check_store(q)
    Wake.check_release(q)
    if groups then
      Groups.begin(q, groups)
      Groups.check_permits(q)
      Groups.read(q, strays)
    end
  end
  if #deadlines > 0 then
    call('ZADD', q.leases, unpack(deadlines))
  end
  for token, text in pairs(left) do
    Claims.store(q, token, text)
  end
  if #strays > 0 then
    Wake.release(q, strays)
    if groups then
      Groups.return_ready(q, strays)
      Groups.store(q)
    end
  end
  return lost
end

register('extend', { 'allow-oom' }, run)
