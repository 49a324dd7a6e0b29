-- The type of a message, read from the first line of its body: the only part of a body that a script looks at. It is what
-- `lib/message/codec/native-codec.ts` reads.

local LONGEST_TYPE = 64

-- Empty: the message has none, or its body is in a form that is not known here.
local function body_type(record)
  local at, wrapped = 13, nil
  repeat
    wrapped = select(2, string.find(record, '^W%d+\n', at))
    at = wrapped and wrapped + 1 or at
  until not wrapped
  local found = string.match(record, '^[KCkc]([A-Za-z0-9_.:-]+)\n', at)
  return found and #found <= LONGEST_TYPE and found or ''
end
