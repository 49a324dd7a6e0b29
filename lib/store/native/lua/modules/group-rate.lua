-- The rate of each group: at most so many of its messages are claimed in any window of so many ms.
--
-- rates STRING at the key `rates` followed by the group's name: the group's claims, as in rate.lua. These keys are not declared, but share
--       the others' hash slot.
--
-- If a group has used up its rate, a claim delays the group's ready messages until the rate allows more. They keep their permits (`held`),
-- so the messages behind them wait in the backlog, and come back like retries. The record keeps its due time, by which the message is late.

-- `rule`: '<maximum number of messages to claim> <within how many ms> <database, as in offer> <channel>'
function GroupRate.begin(q, rule)
  local most, per, database, channel = match(rule, '^(%d+) (%d+) (%S+) (.*)$')
  q.groups.rate = { most = tonumber(most), per = tonumber(per), database = database, channel = channel }
end

-- Raises an error before the first write if the user may not change what the functions below change, or read the groups' claims.
function GroupRate.check(q)
  local rate = q.groups.rate
  call('HLEN', q.held)
  rate.earliest_before = Scores.lowest(q.delayed)
  Permissions.check(
    'ZADD', q.delayed, 'HSET', q.held, 'GET', q.rates, 'SET', q.rates, 'LREM', q.ready, Channel.command(rate.database), rate.channel
  )
end

-- True if the call may claim another message of this group, which it then has to count.
function GroupRate.allows(q, group, micros)
  if not group.left then
    -- A key of the wrong type counts as no claims, because an error would stop the call between two writes.
    local rate, text = q.groups.rate, protected_call('GET', q.rates .. group.name)
    group.rate = Rate.of(type(text) == 'string' and text or '', rate.most, rate.per, micros)
    group.left = group.rate.room
  end
  if group.left == 0 then
    return false
  end
  group.left = group.left - 1
  return true
end

-- Delays a ready message until its group's rate allows another claim. The caller removes it from the list of ready ids. `last_of`: as in
-- scores.lua.
function GroupRate.delay(q, id, last_of, micros)
  local rate, group = q.groups.rate, q.groups.of[id]
  local due = ceil(Rate.opens_at(group.rate, micros) / 1000)
  rate.earliest = Scores.lower(rate.earliest, due)
  call('ZADD', q.delayed, Scores.in_order(q.delayed, last_of, due, group.name), Record.member(id, group.name))
  call('HSET', q.held, id, group.name)
  Groups.change(q, { id }, 0, -1)
end

-- Announces the earliest time at which a delayed message comes back.
function GroupRate.announce(q, micros)
  local rate = q.groups.rate
  Channel.announce(rate.database, rate.channel, rate.earliest_before, rate.earliest, floor(micros / 1000))
end

-- Counts claimed messages.
function GroupRate.count(q, ids, micros)
  local counts = {}
  for _, id in ipairs(ids) do
    local group = q.groups.of[id]
    if group then
      counts[group] = (counts[group] or 0) + 1
    end
  end
  for group, count in pairs(counts) do
    Rate.count(group.rate, count, micros)
    Rate.store_claims(q.rates .. group.name, group.rate, 0)
  end
end
