import { describe } from '@jest/globals';
import { ContractQueues, type OpenQueue } from './contract-queue.js';
import { describeClaimingTransfers, describeClaimingTransfersAfterLoss } from './rules/transfer-and-claim.rules.js';
import { describeAborts } from './rules/abort.rules.js';
import { describeChangedLimits } from './rules/changed-limits.rules.js';
import { describeChanges } from './rules/change.rules.js';
import { describeDebouncing } from './rules/debounce.rules.js';
import { describeBodies } from './rules/bodies.rules.js';
import { describeClaims } from './rules/claim.rules.js';
import { describeDeadLetters } from './rules/dead-letter.rules.js';
import { describeWakeSignals } from './rules/wake-signal.rules.js';
import { describeDueCounts } from './rules/due-count.rules.js';
import { describeDuplicates } from './rules/duplicate.rules.js';
import { describeFollowers } from './rules/follower.rules.js';
import { describeHistory } from './rules/history.rules.js';
import { describeKeptIds } from './rules/kept-ids.rules.js';
import { describeLateCalls } from './rules/late.rules.js';
import { describeLeases } from './rules/lease.rules.js';
import { describeLists } from './rules/list.rules.js';
import { describeOffers } from './rules/offer.rules.js';
import { describeGlobalConcurrency } from './rules/global-concurrency.rules.js';
import { describeRates } from './rules/rate.rules.js';
import { describeRepeating } from './rules/repeat.rules.js';
import { describeRestoring } from './rules/restore.rules.js';
import { describeRestoringPast } from './rules/restored-past.rules.js';
import { describeRetries } from './rules/retries.rules.js';
import { describeSettlements } from './rules/settle.rules.js';
import { describeTypeCounts } from './rules/type-count.rules.js';
import { describeTransfers } from './rules/transfer.rules.js';
import { describeWatching } from './rules/watch-due.rules.js';
import { describeWholeQueue } from './rules/whole-queue.rules.js';

/** The rules for every {@link MessageStore}, in the order of a message's life. */
export function describeMessageStore(
  name: string,
  openQueue: OpenQueue,
  {
    transfersAndClaims = false,
    losesRecords = false,
    follows = true,
    canChange = true,
    repeats = true,
    isShared = true,
    limitsActive = true,
    remembers = true,
    restores = true,
  } = {},
): void {
  describe(`${name} as a message store`, () => {
    const queues = new ContractQueues(openQueue);

    describeOffers(queues);
    describeDuplicates(queues);
    if (follows) describeFollowers(queues);
    if (follows && repeats) describeRepeating(queues);
    if (follows) describeRetries(queues);
    if (canChange) describeChanges(queues);
    if (canChange) describeDebouncing(queues);
    if (isShared) describeLateCalls(queues, canChange);
    describeTransfers(queues);
    describeClaims(queues);
    if (transfersAndClaims) describeClaimingTransfers(queues);
    if (transfersAndClaims && losesRecords) describeClaimingTransfersAfterLoss(queues);
    describeRates(queues);
    if (limitsActive) describeGlobalConcurrency(queues);
    if (limitsActive) describeChangedLimits(queues);
    describeLeases(queues);
    describeSettlements(queues);
    describeAborts(queues);
    describeDeadLetters(queues);
    describeWholeQueue(queues);
    describeTypeCounts(queues);
    describeDueCounts(queues);
    describeLists(queues);
    if (remembers) describeHistory(queues);
    if (restores) describeRestoring(queues);
    if (restores && remembers) describeRestoringPast(queues);
    if (remembers) describeKeptIds(queues);
    describeBodies(queues);
    describeWakeSignals(queues);
    describeWatching(queues);
  });
}
