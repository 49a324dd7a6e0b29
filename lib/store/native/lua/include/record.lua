-- A record: due and offered as 48-bit big-endian milliseconds, then the body, which no script ever looks into.
local function pack_record(due, offered, body)
  return struct.pack('>I6I6', due, offered) .. body
end

-- Whether something is long enough to be a record; what is not was written by somebody else.
local function is_record(value)
  return value and #value >= 12
end

local function record_due(record)
  return is_record(record) and struct.unpack('>I6', record) or 0
end

local function with_due(record, due)
  return struct.pack('>I6', due) .. string.sub(record, 7)
end

local function record_body(record)
  return string.sub(record, 13)
end
