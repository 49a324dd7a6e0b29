-- Followers: a message that was offered while one of the same id was active is kept beside it, and offered once that one is settled.
-- It is kept as '+' and its delay, or '@' and its instant, in ms, then a line feed and its body.
--@include clock
--@include permission
--@include record
--@include lowest
--@with lanes --@include groups

-- Which followers take the place of these messages, which are about to be gone or dead: `ids`, the same as a set (`released`), what is
-- stored for them, and the earliest due time. Nil if there are none. Raises an error before the first write if one of the keys has
-- another type, or the user may not change it.
local function plan_release(ids, now, now_micros)
  local release
  for i, text in ipairs(#ids > 0 and redis.call('HMGET', keys.followers, unpack(ids)) or {}) do
    if text then
      release = release or { ids = {}, released = {}, scores = {}, records = {} }
      local when, body = string.match(text, '^([+@]%d+)\n(.*)$')
      -- What has another form was written by somebody else; it must not keep messages from being settled.
      local id, due = ids[i], due_instant(when or '+0', now_micros)
      local member = id
      --@with lanes member = member_of(id, group_at(body or text, 1))
      table.insert(release.ids, id)
      release.released[id] = true
      table.insert(release.scores, due)
      table.insert(release.scores, member)
      table.insert(release.records, id)
      table.insert(release.records, pack_record(due, now, body or text))
      release.earliest = lower_of(release.earliest, due)
    end
  end
  if release then
    redis.call('HLEN', keys.attempts)
    check_permissions(
      'HDEL', keys.followers, 'HDEL', keys.attempts, 'ZADD', keys.delayed, 'HSET', keys.messages
    )
  end
  return release
end

-- The ids of a list that no follower takes the place of.
local function without_released(ids, release)
  local rest = {}
  for _, id in ipairs(ids) do
    if not release.released[id] then
      rest[#rest + 1] = id
    end
  end
  return rest
end

-- The caller has taken the ids out of the states that their messages were in.
local function release_followers(release)
  redis.call('HSET', keys.messages, unpack(release.records))
  redis.call('ZADD', keys.delayed, unpack(release.scores))
  redis.call('HDEL', keys.attempts, unpack(release.ids))
  redis.call('HDEL', keys.followers, unpack(release.ids))
end
