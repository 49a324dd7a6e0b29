-- Followers: a message offered while another of its id is active is stored separately, and offered once the active one is settled. It is
-- stored as '+' and its delay, or '@' and its time, in ms, then a line feed and its body.

-- True if this stored follower repeats.
function Followers.repeats(text)
  return find(text, '^[+@]%d+\nNrepeat\n[^\n]*\n') ~= nil
end

-- The followers that take over from these messages, which are about to be gone or dead: `ids`, the same as a set (`released`), what is
-- stored for them, and the earliest due time. Nil if there are none. Raises an error before the first write if one of the keys has another
-- type, or the user may not change it.
function Followers.plan(q, ids, now, micros)
  local release
  for i, text in ipairs(#ids > 0 and call('HMGET', q.followers, unpack(ids)) or {}) do
    if text then
      release = release or { ids = {}, released = {}, scores = {}, records = {} }
      local when, body = match(text, '^([+@]%d+)\n(.*)$')
      -- A value in another form was written by somebody else; it must not keep messages from being settled.
      local id, due = ids[i], Clock.due(when or '+0', micros)
      local pair = 2 * #release.ids + 1
      release.scores[pair] = due
      release.scores[pair + 1] = q.groups and Record.member(id, Record.group_at(body or text, 1)) or id
      release.records[pair], release.records[pair + 1] = id, Record.pack(due, now, body or text)
      release.ids[#release.ids + 1], release.released[id] = id, true
      release.earliest = Scores.lower(release.earliest, due)
    end
  end
  if release then
    call('HLEN', q.attempts)
    Permissions.check('HDEL', q.followers, 'HDEL', q.attempts, 'ZADD', q.delayed, 'HSET', q.messages)
  end
  return release
end

-- Returns the ids whose places no follower takes.
function Followers.without_released(ids, release)
  local rest = {}
  for _, id in ipairs(ids) do
    if not release.released[id] then
      rest[#rest + 1] = id
    end
  end
  return rest
end

-- The caller has already removed the ids from the states of their messages.
function Followers.release(q, release)
  call('HSET', q.messages, unpack(release.records))
  call('ZADD', q.delayed, unpack(release.scores))
  call('HDEL', q.attempts, unpack(release.ids))
  call('HDEL', q.followers, unpack(release.ids))
end
