-- A record: due time and time of the offer as 48-bit big-endian milliseconds, then the body, of which scripts read nothing but the type.
local function pack_record(due, offered, body)
  return struct.pack('>I6I6', due, offered) .. body
end

-- Whether a value is long enough to be a record. A shorter one was written by somebody else.
local function is_record(value)
  return value and #value >= 12
end

local function record_due(record)
  return is_record(record) and struct.unpack('>I6', record) or 0
end

local function record_offered(record)
  return is_record(record) and struct.unpack('>I6', record, 7) or 0
end

local function with_due(record, due)
  return struct.pack('>I6', due) .. string.sub(record, 7)
end

local function with_body(record, body)
  return string.sub(record, 1, 12) .. body
end

local function record_body(record)
  return string.sub(record, 13)
end
