-- The writes that a call plans before its first one: each a command, its key, and a list of arguments. Without arguments, it is left out.

-- Adds two arguments to a list: a field and its value, or a score and its member.
function Writes.add_pair(list, one, other)
  list[#list + 1], list[#list + 2] = one, other
end

-- Raises an error before the first write if the user lacks the permission for one of these writes.
function Writes.check(writes)
  for _, write in ipairs(writes) do
    if #write[3] > 0 then
      Permissions.check(write[1], write[2])
    end
  end
end

function Writes.run(writes)
  for _, write in ipairs(writes) do
    if #write[3] > 0 then
      call(write[1], write[2], unpack(write[3]))
    end
  end
end
