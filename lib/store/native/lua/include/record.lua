-- A record: due and offered as 48-bit big-endian milliseconds, then the body, which no script ever looks into.
local function pack_record(due, offered, body)
  return struct.pack('>I6I6', due, offered) .. body
end

local function record_due(record)
  return (struct.unpack('>I6', record))
end

local function with_due(record, due)
  return struct.pack('>I6', due) .. string.sub(record, 7)
end
