--@include partition-record

-- Refuses a call whose caller goes by another record than this partition: one of the two has missed a change, so the message may
-- belong elsewhere. The caller learns of the other record. Nothing is checked if the caller's queue cannot have several partitions.
local function check_record()
  if args.record ~= '' and stored_record() ~= args.record then
    error({ err = 'REPARTITIONED ' .. stored_record() .. ', which is not the record of the caller; nothing was written' })
  end
end
