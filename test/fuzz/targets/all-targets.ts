import type { Target } from '../target.js';
import { encryptedBodies, nativeBodies } from './native.js';
import { outboxRows } from './outbox.js';
import { exportLines, records } from './records.js';
import { redissonPayloads } from './redisson.js';

export const allTargets = async (): Promise<readonly Target[]> => [
  ...[nativeBodies, encryptedBodies, records, exportLines],
  ...redissonPayloads,
  await outboxRows(),
];
