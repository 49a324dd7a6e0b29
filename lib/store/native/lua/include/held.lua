-- What a claim holds is a text: its ids, with a line feed before, between and after them, which no id contains. '\n': nothing.

local function ids_held(held)
  local ids = {}
  for id in string.gmatch(held, '[^\n]+') do
    ids[#ids + 1] = id
  end
  return ids
end

-- The places of ids, to look up whether something is among them.
local function set_of(ids)
  local set = {}
  for place, id in ipairs(ids) do
    set[id] = place
  end
  return set
end

-- With the ids of a list, or with those from a place on.
local function with_ids(held, ids, first)
  return held .. table.concat(ids, '\n', first or 1) .. '\n'
end

-- What is left without some ids, given as they follow each other in the text; nil: it does not hold them so.
local function without_ids(held, ids)
  local from, to = string.find(held, '\n' .. ids .. '\n', 1, true)
  return from and string.sub(held, 1, from) .. string.sub(held, to + 1)
end

-- The texts of claims, by token; false: it has ended.
local function read_held(claims, tokens)
  local held = {}
  for _, token in ipairs(tokens) do
    if held[token] == nil then
      held[token] = redis.call('HGET', claims, token)
    end
  end
  return held
end

-- Raises if what claims hold may not be changed: before the first write.
local function check_store_held(keys)
  check_permissions('HSET', keys.claims, 'HDEL', keys.claims, 'ZREM', keys.leases)
end

-- A claim that holds nothing any more has ended, and its lease with it.
local function store_held(keys, token, held)
  if held == '\n' then
    redis.call('HDEL', keys.claims, token)
    redis.call('ZREM', keys.leases, token)
  else
    redis.call('HSET', keys.claims, token, held)
  end
end
