-- The rule of a message that repeats: the first lines of its body, 'Nrepeat', a line feed, the rule, and a line feed. Those of a message
-- that was set aside come before. `lib/message/codec/body-forms.ts` writes them.

-- Where the lines of the rule begin in a record, and where they end; nil: the message does not repeat.
local function find_rule(record)
  local _, set_aside = string.find(record, '^W%d+\n', 13)
  return string.find(record, '^Nrepeat\n[^\n]*\n', (set_aside or 12) + 1)
end

-- Whether what is stored for a follower (include/follower.lua) repeats.
local function does_follower_repeat(text)
  return string.find(text, '^[+@]%d+\nNrepeat\n[^\n]*\n') ~= nil
end
