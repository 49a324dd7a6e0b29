#!lua flags=allow-oom
-- Removes every message in every state.
--
-- KEYS 1 messages, then every other key of the queue that holds messages
-- Returns how many messages were removed.
--
-- Atomic so that no part of a message stays behind. Keys are unlinked: the server frees them in the background, however
-- large they are. A crash right after leaves the queue empty.

local messages = KEYS[1]

local count = redis.call('HLEN', messages)
redis.call('UNLINK', unpack(KEYS))
return count
