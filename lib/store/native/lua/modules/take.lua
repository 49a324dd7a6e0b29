-- Takes ready messages under a lease.

-- How long the end of a superseded claim is remembered, ms: as long as a call may be in progress, which is the maximum offerTimeout.
local ENDED_KEPT_MS = 600000

-- The maximum number of records to read at a time.
local READ_AT_ONCE = 64

-- Reads a claim's request from its arguments, which start at `at` and come in the order of claim.lua.
function Take.read_request(args, at)
  local max_bytes = tonumber(args[at + 3])
  return {
    token = args[at], supersedes = args[at + 1], limit = tonumber(args[at + 2]),
    max_bytes = max_bytes > 0 and max_bytes or huge, lease = tonumber(args[at + 4]), rate = args[at + 5],
  }
end

-- Returns a true value if the token may take nothing, because it has already taken messages or another claim has superseded it.
function Take.has_taken(q, request)
  return call('GET', q.ended_token) or call('HGET', q.claims, request.token)
end

-- Returns the ids held by the claim that this one supersedes.
function Take.passed_on(q, request)
  return request.supersedes == '' and {} or Ids.of(call('HGET', q.claims, request.supersedes) or '\n')
end

-- Raises an error before the first write if the user may not change what a claim changes.
function Take.check(q, request)
  Permissions.check('LTRIM', q.ready, 'HSET', q.claims, 'ZADD', q.leases, 'RPUSH', q.wake)
  if request.rate ~= '' then
    Permissions.check('SET', q.rate)
    if q.groups then
      Permissions.check('SET', q.awaited)
    end
  end
  if request.supersedes ~= '' then
    Permissions.check('SET', q.ended_supersedes, 'LPUSH', q.ready, 'HDEL', q.claims, 'ZREM', q.leases)
  end
end

-- Returns the records of the messages from position `first` to `last` of `ids`. `known`: records by id, if the call has already read some.
local function records_of(q, ids, first, last, known)
  local records = {}
  for at = first, last do
    local record = known and known[ids[at]]
    if not record then
      return call('HMGET', q.messages, unpack(ids, first, last))
    end
    records[#records + 1] = record
  end
  return records
end

-- Appends messages from the front of `ids` to a reply, each as its id and its record (false: none): at most `most`, with at most
-- `max_bytes` of records, but at least one unless `most` is 0. Returns how many were appended, and the ids of those without a record.
-- A record may be as large as a payload, so reads one first, and then no more than would fit if all were as large as those so far.
local function append_taken(q, reply, ids, most, max_bytes, known)
  local lost, count, bytes, at, size = {}, 0, 0, #reply, 1
  while count < most do
    local records = records_of(q, ids, count + 1, min(count + size, most), known)
    for i = 1, #records do
      local id, record = ids[count + 1], records[i]
      if not Record.is(record) then
        record, lost[#lost + 1] = false, id
      elseif count > 0 and bytes + #record > max_bytes then
        return count, lost
      else
        bytes = bytes + #record
      end
      count, reply[at + 1], reply[at + 2] = count + 1, id, record
      at = at + 2
    end
    size = max(1, min(READ_AT_ONCE, floor((max_bytes - bytes) / max(1, bytes) * count)))
  end
  return count, lost
end

-- Returns the ids of the messages in a reply, except `lost`, the ids without a record.
local function present_in(reply, ids, lost)
  if #lost == 0 then
    return ids
  end
  local present = {}
  for at = 5, #reply, 2 do
    if reply[at + 1] then
      present[#present + 1] = reply[at]
    end
  end
  return present
end

-- How many ready messages a claim looks at to find one that it may take.
local MAX_LOOKED_AT = 100

-- Removes those of the first `most` ready messages that may not be taken: messages of paused groups return to the front of their
-- backlogs and give up their permits; if a group has used up its rate, its messages are delayed. Returns how many messages remain in the
-- list of ready ids, and how many of those that come first may be taken.
local function remove_untakeable(q, most, micros)
  Groups.check_permits(q)
  if q.groups.has_settings then
    Permissions.check('LPUSH', q.backlog, 'LREM', q.ready)
  end
  if q.rates then
    GroupRate.check(q)
  end
  if q.groups.has_settings then
    Groups.mark_settings(q)
  end
  local looked_at, takeable, ids, last_of = 0, 0, nil, {}
  repeat
    local paused, delayed = {}, {}
    ids = call('LRANGE', q.ready, '0', most - 1)
    takeable, looked_at = #ids, looked_at + #ids
    Groups.read(q, ids)
    for _, id in ipairs(ids) do
      local group = q.groups.of[id]
      if group and group.is_paused then
        paused[#paused + 1] = id
      elseif group and q.rates and not GroupRate.allows(q, group, micros) then
        GroupRate.delay(q, id, last_of, micros)
        delayed[#delayed + 1] = id
      end
    end
    for i = #paused, 1, -1 do
      if Groups.run_on_backlog(q, 'LPUSH', q.groups.of[paused[i]].name, paused[i]) then
        call('LREM', q.ready, '1', paused[i])
        Groups.change(q, { paused[i] }, -1, -1)
        takeable = takeable - 1
      end
    end
    -- In this order, because a group whose count of ready messages is too high would stand still.
    Groups.store(q)
    for _, id in ipairs(delayed) do
      call('LREM', q.ready, '1', id)
    end
    takeable = takeable - #delayed
  until takeable > 0 or #ids == 0 or looked_at >= MAX_LOOKED_AT
  if q.rates then
    GroupRate.announce(q, micros)
  end
  return call('LLEN', q.ready), takeable
end

-- Takes messages. Returns claim.lua's reply. `rate`: from Rate.read; `elsewhere`: number of ready ids not in the list; `known`: see above.
function Take.run(q, request, micros, rate, elsewhere, known)
  local passed = Take.passed_on(q, request)
  local limit = Take.has_taken(q, request) and 0 or request.limit
  local is_paused
  if q.groups then
    is_paused = Groups.read_pauses(q)
  else
    is_paused = call('GET', q.paused)
  end
  local ready, signals = call('LLEN', q.ready), call('LLEN', q.wake)
  call('ZCARD', q.leases)

  local groups, ids, in_list = q.groups, passed, 0
  local most = rate and min(limit, rate.room) or limit
  local room = request.active and Claims.room(q, request.active)
  if room then
    most = min(most, room)
  end
  if #passed == 0 and not is_paused and most > 0 then
    local takeable = most
    if groups and (groups.has_settings or q.rates) then
      Take.check(q, request)
      ready, takeable = remove_untakeable(q, most, micros)
    end
    ids = takeable > 0 and call('LRANGE', q.ready, '0', takeable - 1) or {}
    in_list = #ids
    -- If fewer than `most` remain of those that remove_untakeable looked at, the next messages are in the list, not in the backlogs.
    if groups and groups.counts_ready and in_list > 0 and in_list < most and in_list == ready then
      ready = ready + Groups.top_up(q, ids, most)
    end
  end
  local reply = { 0, micros, -1, '' }
  local count, lost = append_taken(q, reply, ids, min(limit, #ids), request.max_bytes, known)
  local taken = count - #lost
  if count > 0 and call('HLEN', q.attempts) > 0 then
    reply[4] = concat(Claims.failed_attempts(q.attempts, ids, count), ' ')
  end
  local popped = #passed == 0 and count or 0
  local released = #passed - (count - popped)
  local more = not is_paused and ready - popped + released + elsewhere > 0
  if groups and not more and not is_paused and popped > 0 then
    more = Groups.go_on(q, ids, count)
  end
  -- While the queue's concurrency is used up, whoever ends a claim wakes a consumer.
  if room and room + #passed - taken <= 0 then
    more = false
  end
  local counts = rate and #passed == 0 and taken > 0
  if counts then
    Rate.count(rate, taken, micros)
  end
  -- The caller waits for the rate only if it still has a free slot. Otherwise, the consumer that is woken next waits for it.
  local claim_again_in = -1
  if rate and rate.room == 0 and more and #passed == 0 and count < limit then
    more, claim_again_in = false, Rate.await(rate, micros)
  end
  -- There is a signal, but there is nothing left to wake a consumer for.
  local is_signal_stale = not more and signals > 0

  Take.check(q, request)
  if groups and (groups.counts_ready or #lost > 0) then
    Groups.check_permits(q)
  end
  local has_stale_attempts = #lost > 0 and reply[4] ~= ''
  if has_stale_attempts then
    Permissions.check('HDEL', q.attempts)
  end
  if is_signal_stale then
    Permissions.check('DEL', q.wake)
  end
  if popped > 0 then
    call('LTRIM', q.ready, popped, '-1')
    if groups then
      Groups.leave_to_claim(q, ids, count, in_list, lost)
    end
  end
  for i = #passed, #passed - released + 1, -1 do
    call('LPUSH', q.ready, passed[i])
  end
  if groups then
    Groups.release(q, { unpack(passed, #passed - released + 1) })
  end
  if request.supersedes ~= '' then
    call('SET', q.ended_supersedes, '1', 'PX', ENDED_KEPT_MS)
    call('HDEL', q.claims, request.supersedes)
    call('ZREM', q.leases, request.supersedes)
  end
  if taken > 0 then
    local present = present_in(reply, ids, lost)
    call('HSET', q.claims, request.token, Ids.text(present, 1, taken))
    if q.rates and popped > 0 then
      GroupRate.count(q, { unpack(present, 1, taken) }, micros)
    end
    call('ZADD', q.leases, format('%d', Clock.after(request.lease, micros)), request.token)
  end
  -- A new message with the id of a lost one starts with no failed attempts.
  if has_stale_attempts then
    call('HDEL', q.attempts, unpack(lost))
  end
  if counts or claim_again_in >= 0 or rate and rate.is_wait_over then
    Rate.store(q, rate)
  end
  if more and signals == 0 then
    call('RPUSH', q.wake, '1')
  elseif is_signal_stale then
    call('DEL', q.wake)
  end
  reply[1], reply[3] = more and 1 or 0, claim_again_in
  return reply
end
