#!lua flags=allow-oom
-- Makes messages ready that are kept but are in no state, as damage from outside may leave them.
--
-- KEYS messages delayed ready claims dead wake paused
-- ARGV cursor: text, of the answer before, empty: this is the first look, which ends at once if all messages are accounted for
--      size: number, how many messages to look at, roughly; a small hash is looked at as a whole
-- Returns the next cursor (empty: the look is over, or the line of ready messages is too long for one), then the ids of the
--      messages that are ready now.
--
-- Atomic so that a message on its way from one state to another is not taken for lost. A crash right after leaves them ready.
--@include repair

return repair(function() return 0 end, function() return false end)
