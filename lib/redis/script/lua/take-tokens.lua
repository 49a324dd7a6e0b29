#!lua flags=allow-oom
-- Takes the tokens from several doorbells.
--
-- ARGV ...: the doorbell of each queue, a list
-- Returns the position (from 1) of each doorbell that had a token.
--
-- The keys are among the arguments, because a layout has one doorbell and these are those of several queues. A token promises nothing, so
-- nothing needs to be atomic. A crash right after loses the tokens, which the next transfers replace.

local rung = {}
for at = FIRST, #ARGV do
  if redis.call('LLEN', ARGV[at]) > 0 then
    redis.call('DEL', ARGV[at])
    rung[#rung + 1] = at - FIRST + 1
  end
end
return rung
