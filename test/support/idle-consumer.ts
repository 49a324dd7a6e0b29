import type { TransferScheduler } from '../../lib/consumer/transfer-scheduler.js';

const ignore = () => undefined;

/** What a scheduler needs of a consumer that claims nothing with a transfer. */
export const idleConsumer: ConstructorParameters<typeof TransferScheduler>[0]['consumer'] = {
  transferAndClaim: ignore,
  wake: ignore,
  abort: ignore,
  limitsChanged: ignore,
};
