-- Stores new messages. A call with only the first three keys costs less; its ids must differ, and it needs all keys if one is in use.
--
-- KEYS delayed messages partitions
--      | ready claims leases attempts dead errors followers
--      | permits backlog held wake paused
-- ARGV deadline: text, instant in ms, 0: none
--      channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
--      | max_messages: number, maximum number of messages in the partition, 0: no limit, -1: offers create none
--      | groups: text, as in modules/groups.lua
--      ...: for each offer: id; due time ('+' and a delay, or '@' and an instant, in ms), followed, after a space, by what to do if the id
--        is in use: 'replace' (optionally with a space and the longest wait in ms), 'reject', 'follow' or 'repeat' (default: 'keep'); body
-- Returns for each offer its due time in ms (0: none); then, for each offer that did not create a message, its position (from 1) and its
--      outcome: 'kept', 'replaced', 'rejected', 'full', or 'followed' (it waits for the active message with its id). Null if it needs the
--      extra keys; then nothing was written.
--
-- Atomic because an id must be looked up and taken in one step, and a due time that is stored but not announced would be noticed late. A
-- crash right afterwards leaves the messages stored; a lost announcement costs a check interval. If memory is short, the server refuses
-- this function before it starts.

local function short(keys, args)
  return Offering.store_new(keys, args)
end

local function run(keys, args)
  return Offering.run({
    delayed = keys[1], messages = keys[2], partitions = keys[3], ready = keys[4], claims = keys[5], leases = keys[6],
    attempts = keys[7], dead = keys[8], errors = keys[9], followers = keys[10], permits = keys[11], backlog = keys[12], held = keys[13],
    wake = keys[14], paused = keys[15],
  }, args)
end

register('offer', {}, run, 3, short)
