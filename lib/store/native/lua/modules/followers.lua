-- A follower is an offer for an id that an active message has. It waits until that message is settled for good, and then takes its place.
-- It is stored as '+' and a delay, or '@' and an instant, in ms; a line feed; and the body. One whose rule is paused is due only once that
-- has been resumed.

-- True if a stored follower repeats.
function Followers.repeats(text)
  return find(text, '^[+@]%d+\nNrepeat\n[^\n]*\n') ~= nil
end

-- Plans how followers take the places of these messages, which are about to be gone or dead. Returns the followers' `ids`, also as a set
-- (`is_followed`), the `scores` and `records` to store, and the `earliest` due time; nil if there are no followers. Raises an error before
-- the first write if a key has the wrong type, or if the user may not change it.
function Followers.plan(q, ids, now, micros)
  local followers
  for i, text in ipairs(#ids > 0 and call('HMGET', q.followers, unpack(ids)) or {}) do
    if text then
      followers = followers or { ids = {}, is_followed = {}, scores = {}, records = {} }
      local when, body = match(text, '^([+@]%d+)\n(.*)$')
      -- Somebody else wrote a value in another form. It becomes a message due now, because an error would keep messages from being settled.
      local id, due = ids[i], body and Record.is_paused(body, 1) and Record.PAUSED_UNTIL or Clock.due(when or '+0', micros)
      local pair = 2 * #followers.ids + 1
      followers.scores[pair] = due
      followers.scores[pair + 1] = q.groups and Record.member(id, Record.group_at(body or text, 1)) or id
      followers.records[pair], followers.records[pair + 1] = id, Record.pack(due, now, body or text)
      followers.ids[#followers.ids + 1], followers.is_followed[id] = id, true
      followers.earliest = Scores.lower(followers.earliest, due)
    end
  end
  if followers then
    call('HLEN', q.attempts)
    Permissions.check('HDEL', q.followers, 'HDEL', q.attempts, 'ZADD', q.delayed, 'HSET', q.messages)
  end
  return followers
end

-- Returns those of the ids that have no follower.
function Followers.without_followed(ids, followers)
  local rest = {}
  for _, id in ipairs(ids) do
    if not followers.is_followed[id] then
      rest[#rest + 1] = id
    end
  end
  return rest
end

-- Stores followers as delayed messages. The caller has already removed the messages that they replace from their states.
function Followers.store(q, followers)
  call('HSET', q.messages, unpack(followers.records))
  call('ZADD', q.delayed, unpack(followers.scores))
  call('HDEL', q.attempts, unpack(followers.ids))
  call('HDEL', q.followers, unpack(followers.ids))
end
