-- Looks which formats the entries of delayed messages have: some of those that were offered first and last.
--
-- KEYS entries
-- Returns whether any has the old format, dLc0, then whether another client has written any in the new one, Bc0Lc0: 0 or 1 each; then
--      some values that other clients have written.
--
-- Atomic so that the list does not change meanwhile. Writes nothing.
local function run(keys, args)
  local q = { entries = keys[1] }
  -- How many entries are read at each end, and how many bytes at most.
  local MAX_AT_END = 50
  local MAX_BYTES_AT_END = 524288

  -- How many values are returned, and how long one may be, in bytes.
  local MAX_VALUES = 10
  local MAX_VALUE = 65536

  local has_old, has_new, values = 0, 0, {}

  local function note(entries)
    for _, entry in ipairs(entries) do
      local value_at, id_at = Entry.read_heads(entry)
      if id_at == 1 then
        has_old = 1
      elseif id_at and not Entry.sequence(entry) then
        has_new = 1
      end
      if id_at and not Entry.sequence(entry) and #values < MAX_VALUES and #entry <= MAX_VALUE then
        values[#values + 1] = sub(entry, value_at)
      end
    end
  end

  local size = call('LLEN', q.entries)
  note(Ids.read_within(min(size, MAX_AT_END), MAX_BYTES_AT_END, function(first, last)
    return call('LRANGE', q.entries, first - 1, last - 1)
  end))
  note(Ids.read_within(min(size, MAX_AT_END), MAX_BYTES_AT_END, function(first, last)
    local part, reversed = call('LRANGE', q.entries, -last, -first), {}
    for i = #part, 1, -1 do
      reversed[#reversed + 1] = part[i]
    end
    return reversed
  end))
  return { has_old, has_new, unpack(values) }
end

register('entry_formats', { 'no-writes' }, run)
