import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomName } from '../../support/random-name.js';
import { sharedRedisUrl } from '../../support/redis/shared-redis.js';
import { Journal } from '../journal/journal.js';
import { readHistory } from '../oracle/read-history.js';
import { LEASE } from '../workload/message-plan.js';
import { HoldingWatch } from './holding-watch.js';
import { keysOfQueues } from './queue-keys.js';

class SetJournal extends Journal {
  time = 0;
  override now(): number {
    return this.time;
  }
}

let folder: string;
let redis: Redis;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdings-'));
  redis = new Redis(sharedRedisUrl());
});

afterEach(() => {
  redis.disconnect();
  rmSync(folder, { recursive: true });
});

test('a message is recorded if and only if one claim holds it for longer than a lease', async () => {
  const queues = keysOfQueues({ layout: 'native', groups: 0 }, randomName('soak'));
  const { claims } = queues[0]!;
  const journal = new SetJournal(join(folder, '000-observer.journal'), 0);
  const watch = new HoldingWatch(redis, queues, journal);
  const lookAt = async (time: number) => {
    journal.time = time;
    await watch.look();
  };
  await redis.hset(claims, { one: '\nm1\nm2\n', two: '\nm3\n', three: '\n0a1b2c3d4e5f6a7b\n' });
  await lookAt(100);
  await redis.hset(claims, { one: '\nm1\n', three: '\nm2\n' });
  await lookAt(LEASE);
  await lookAt(LEASE + 101);
  await redis.hdel(claims, 'one', 'two', 'three');
  await redis.hset(claims, { four: '\nm3\n' });
  await lookAt(9000);
  await lookAt(9000 + LEASE + 1);
  watch.finish();
  await redis.del(claims);

  const reported = [...readHistory(folder).byMessage()].flatMap(({ entries }) => entries);
  expect(reported).toEqual([
    { process: 0, kind: 'held', n: 1, from: 100, at: LEASE + 101 },
    { process: 0, kind: 'held', n: 3, from: 100, at: LEASE + 101 },
    { process: 0, kind: 'held', n: 3, from: 9000, at: 9000 + LEASE + 1 },
  ]);
});
