-- Settles messages for settle.lua, which describes keys, arguments and reply, and for settle-and-keep.lua.

-- Reads the runs of a call in which all messages were handled. Returns what is left of their claims, by token; true if any holds more; a
-- list with all ids, and where in it they begin. Nil if more is needed than ending claims. `args[at]` is the first token, `held` its ids.
local function read_runs(claims, args, at, held)
  local left, some_left, ids, from = {}, false, args, at + 2
  repeat
    local token, count = args[at], tonumber(args[at + 1])
    if not count then
      return nil
    end
    local first, last = at + 2, at + 1 + count
    local rest = Ids.without(held or left[token] or call('HGET', claims, token) or '', concat(args, '\n', first, last))
    if not rest then
      return nil
    end
    left[token], some_left = rest, some_left or rest ~= '\n'
    at, held = last + 1, nil
    if args[at] and ids == args then
      ids, from = {}, 1
    end
    if ids ~= args then
      for i = first, last do
        ids[#ids + 1] = args[i]
      end
    end
  until not args[at]
  return left, some_left, ids, from
end

-- Stores what is left of a claim, or ends it. Ignores an error if the key of leases has the wrong type: then there is no lease to remove.
local function end_claim(claims, leases, token, left)
  if left == '\n' then
    call('HDEL', claims, token)
    protected_call('ZREM', leases, token)
  else
    call('HSET', claims, token, left)
  end
end

-- Ends claims of handled messages, from argument `at` on. Returns false, without any change, if more is needed than ending claims. With
-- groups, `of_groups` comes from Groups.acknowledgement, and frees their permits. `keep`: as in Settling.run.
function Settling.acknowledge(keys, args, at, of_groups, keep)
  local messages, claims, leases, attempts, followers = keys[1], keys[2], keys[3], keys[4], keys[5]
  local token, ids, from, left, some_left = args[at], args, at + 2, nil, false
  local held = call('HGET', claims, token)
  -- Usually, the call settles a single message, which is all that its claim holds.
  if args[at + 1] ~= '1' or args[at + 3] or held ~= '\n' .. args[from] .. '\n' then
    left, some_left, ids, from = read_runs(claims, args, at, held)
    if not left then
      return false
    end
  end

  -- Usually neither key exists: attempts are kept only for messages that have failed.
  local kept = call('EXISTS', attempts, followers)
  local has_attempts = kept > 0 and call('HLEN', attempts) > 0
  if kept > (has_attempts and 1 or 0) then
    for _, follower in ipairs(call('HMGET', followers, unpack(ids, from))) do
      if follower then
        return false
      end
    end
  end
  local ended_ids = of_groups and { unpack(ids, from) }
  if of_groups then
    of_groups.plan(ended_ids)
  end
  -- The first write proves its own permission. The other permissions are checked before it.
  if not (acl_check('HDEL', claims, '0') and acl_check('ZREM', leases, '0')
    and (not some_left or acl_check('HSET', claims, '0', '0')) and (not has_attempts or acl_check('HDEL', attempts, '0'))) then
    return false
  end
  if keep then
    keep(ids, from)
  end
  call('HDEL', messages, unpack(ids, from))
  if has_attempts then
    call('HDEL', attempts, unpack(ids, from))
  end
  if left then
    for ended, rest in pairs(left) do
      end_claim(claims, leases, ended, rest)
    end
  else
    end_claim(claims, leases, token, '\n')
  end
  if of_groups then
    of_groups.pass_on(ended_ids)
  end
  return 0
end

-- Returns the ids of the messages that are gone because they were handled, not because they had expired.
local function handled_ids(plan)
  local ids = {}
  for _, id in ipairs(plan.gone) do
    local run = plan.runs[id]
    if run.outcome == 'ack' and run.detail == '' then
      ids[#ids + 1] = id
    end
  end
  return ids
end

-- Settles messages with any outcome. `keys`: in the order of settle.lua; `q`: the same keys by name. `keep`, if given, is called right before
-- the first write with a list of the ids whose messages are gone because they were handled, and where in it they begin.
function Settling.run(q, keys, args, keep)
  local channel, database, max_dead = args[1], args[2], tonumber(args[3])
  local at, names = 4, nil
  if q.permits then
    local groups, count = args[4], tonumber(args[5])
    Groups.begin(q, groups)
    at = 6 + count
    local are_known = true
    for i = 6, at - 1 do
      are_known = are_known and args[i] ~= ''
    end
    local reply = are_known and Settling.acknowledge(keys, args, at, Groups.acknowledgement(q, args, 6, at - 1), keep)
    if reply then
      return reply
    end
    names = { unpack(args, 6, at - 1) }
  end
  local plan = Settlement.read(q, args, at, names)
  call('ZCARD', q.leases)
  call('HLEN', q.messages)
  local attempts_kept, followers_kept = call('HLEN', q.attempts), call('HLEN', q.followers)
  if next(plan.left) ~= nil then
    local now = Settlement.plan(q, plan, attempts_kept, followers_kept)
    Channel.announce(database, channel, plan.earliest_before, plan.earliest, now)
    if keep then
      keep(handled_ids(plan), 1)
    end
    Settlement.execute(q, plan, max_dead)
  end
  return plan.reply
end
