-- What became of offers: for each its due in ms (0: there is none); then, for each that was not created, its place (from 1) and its
-- outcome.
local function receipts_of(dues, outcomes)
  for place, outcome in ipairs(outcomes) do
    if outcome ~= 'created' then
      dues[#dues + 1], dues[#dues + 2] = place, outcome
    end
  end
  return dues
end
