-- Takes ready messages under a lease. Values of the target list first become messages of the native bookkeeping, but only as
-- many as are about to be taken: the rest stays there for Java's consumers.
--
-- KEYS target timeouts offered values repeated sequence ready claims leases messages attempts wake paused rate
--      ended:token ended:supersedes
-- ARGV deadline: text, instant in ms, 0: none
--      token: text, as in claim of the native layout; so are the others
--      supersedes: text
--      limit: number
--      max_bytes: number
--      lease: number, in ms
--      rate: text
-- Returns the same as claim of the native layout.
--
-- Atomic so that a value leaves the target list only into a lease. A crash right after costs the messages their lease and an
-- attempt.
local function run(keys, args)
  local q = {
    target = keys[1], timeouts = keys[2], offered = keys[3], values = keys[4], repeated = keys[5], sequence = keys[6],
    ready = keys[7], claims = keys[8], leases = keys[9], messages = keys[10], attempts = keys[11], wake = keys[12],
    paused = keys[13], rate = keys[14], ended_token = keys[15], ended_supersedes = keys[16],
  }
  local deadline = args[1]
  local request = Take.read_request(args, 2)
  local now, now_micros = Clock.read()
  Clock.check(deadline, now)
  local waiting = call('LLEN', q.target)
  local rate = Rate.read(q, request.rate, now_micros)
  local room = (rate and min(request.limit, rate.room) or request.limit) - call('LLEN', q.ready)
  local sequence = Sequence.unused(call('GET', q.sequence), now_micros)
  for _, key in ipairs({ q.timeouts, q.repeated, q.leases }) do call('ZCARD', key) end
  for _, key in ipairs({ q.offered, q.values, q.messages, q.attempts, q.claims }) do call('HLEN', key) end
  call('LLEN', q.wake)
  if call('GET', q.paused) or Take.has_taken(q, request) or #Take.passed_on(q, request) > 0 then
    room = 0
  end

  local values = Ids.read_within(min(room, waiting), request.max_bytes, function(first, last)
    return call('LRANGE', q.target, first - 1, last - 1)
  end)
  local count, known = #values, {}
  if count > 0 then
    local found = FindOffered.run(q, values, now, {})
    local ids, records, offered, digests, places = {}, {}, {}, {}, {}
    local others = 0
    for i, value in ipairs(values) do
      local message = found[i]
      if message then
        ids[i] = message.id
        offered[#offered + 1] = message.id
        if message.place then
          places[#places + 1] = message.place
        else
          digests[#digests + 1] = message.digest
        end
        known[message.id] = Record.with_body(message.record, value)
      else
        ids[i] = format('%014x', sequence + others)
        others = others + 1
        known[ids[i]] = Record.pack(now, now, value)
      end
      records[2 * i - 1], records[2 * i] = ids[i], known[ids[i]]
    end

    Take.check(q, request)
    Permissions.check(
      'LPOP', q.target, 'HSET', q.messages, 'RPUSH', q.ready, 'SET', q.sequence, 'HDEL', q.offered,
      'HDEL', q.values, 'ZREM', q.repeated, 'LRANGE', q.ready, 'HMGET', q.messages, 'DEL', q.wake,
      'HMGET', q.attempts
    )
    call('HSET', q.messages, unpack(records))
    call('RPUSH', q.ready, unpack(ids))
    call('LPOP', q.target, count)
    if others > 0 then
      Sequence.store(q.sequence, sequence + others - 1)
    end
    if #offered > 0 then
      call('HDEL', q.offered, unpack(offered))
    end
    if #digests > 0 then
      call('HDEL', q.values, unpack(digests))
    end
    if #places > 0 then
      call('ZREM', q.repeated, unpack(places))
    end
  end

  return Take.run(q, request, now_micros, rate, waiting - count, known)
end

register('claim', { 'allow-oom' }, run)
