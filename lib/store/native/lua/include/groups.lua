-- Which message is in which group: groups, a hash of ids.
--@include permission

-- Raises an error before the first write if the key has another type, or the user may not change it.
local function check_groups()
  redis.call('HLEN', keys.groups)
  check_permissions('HSET', keys.groups, 'HDEL', keys.groups)
end

-- The group of a message, from the first lines of its body; nil: it has none. Behind an instant if it was set aside.
local function body_group(body)
  local wrapped = select(2, string.find(body, '^W%d+\n'))
  if wrapped then
    return body_group(string.sub(body, wrapped + 1))
  end
  return string.match(body, '^Ngroup\n([^\n]+)\n')
end

-- New messages with these bodies are there.
local function enter_groups(ids, bodies)
  local entered = {}
  for i, id in ipairs(ids) do
    local group = body_group(bodies[i])
    if group then
      entered[#entered + 1], entered[#entered + 2] = id, group
    end
  end
  if #entered > 0 then
    redis.call('HSET', keys.groups, unpack(entered))
  end
end

-- Nothing is known of these messages any more. They have no slots.
local function forget_groups(ids)
  if #ids > 0 then
    redis.call('HDEL', keys.groups, unpack(ids))
  end
end
