-- Moves due messages from delayed to ready, and takes back active messages whose lease has expired.
--
-- KEYS delayed ready claims leases attempts messages dead errors wake paused rate followers
--      | permits backlog held awaited
-- ARGV announcer: text, the `...` argument of transfer-and-claim; empty: the transfer is not announced
--      limit: number, maximum number of messages to move, and of messages to take back (1-1000)
--      max_attempts: number, failed attempts after which an expired lease makes a message dead that has no more attempts of its own
--      max_dead: number, maximum number of dead letters
--      lease_error: text, error of a dead letter whose lease expired, JSON
--      rate: text, as in claim
--      | groups: text, as in modules/groups.lua
--      ...: if the queue limits its active messages: the limit, as in modules/claims.lua
-- Returns moved, recovered (ready again), ids of the dead-lettered (dead now, or replaced by their followers), dropped (oldest dead
--      letters), more (0 or 1), ready messages, now in microseconds, next instant in ms at which there is work (-1: none is known).
--
-- Atomic so that a message is never in two states or in none, and ready messages always have a wake-up signal. A crash right afterwards
-- leaves the messages ready, with the signal waiting for the next consumer.
local function run(keys, args)
  local q = {
    delayed = keys[1], ready = keys[2], claims = keys[3], leases = keys[4], attempts = keys[5], messages = keys[6], dead = keys[7],
    errors = keys[8], wake = keys[9], paused = keys[10], rate = keys[11], followers = keys[12], permits = keys[13], backlog = keys[14],
    held = keys[15], awaited = keys[16],
  }
  local request, groups = Transfer.read_request(args, 1), args[7]
  request.active = args[q.permits and 8 or 7]
  if q.permits then
    Groups.begin(q, groups)
  end
  local now, micros = Clock.read()
  return Transfer.reply(request, Transfer.execute(q, request, now, Transfer.plan(q, request, now, micros)), micros)
end

register('transfer', { 'allow-oom' }, run)
