import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomName } from '../support/random-name.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { until } from '../support/until.js';
import type { Application } from './application.js';
import type { RunningProgram } from './running-program.js';
import { compileStock, STOCK_COMPILERS } from './stock-settings.js';

/** Terminus' word for a queue with a late message; Terminus 11 does not know `degraded`. */
export type LateStatus = 'up' | 'degraded';

/** The answer of `GET /health`. */
interface Health {
  readonly code: number;
  readonly status: string;
  readonly queue: { readonly status: string; readonly message?: string };
}

/** Declares the tests of an application that Terminus asks about its queue: `health.ts`. */
export function describeHealth(lateStatus: LateStatus, app: () => Application): void {
  describe('the health indicator', () => {
    const queue = randomName('smoke');
    let redis: TestRedis;
    let program: RunningProgram;
    let url: string;

    beforeAll(async () => {
      redis = await startRedis();
      program = app().start('built/health.js', { REDIS_URL: redis.url, QUEUE: queue });
      url = await program.printed(/(?<=Open )http\S+(?=\n)/);
    });

    afterAll(async () => {
      await program.end();
      await redis.stop();
    });

    async function health(): Promise<Health> {
      const response = await fetch(`${url}/health`);
      const { status, details } = (await response.json()) as {
        readonly status: string;
        readonly details: { readonly 'delay-queue': Health['queue'] };
      };
      return { code: response.status, status, queue: details['delay-queue'] };
    }

    it.each(STOCK_COMPILERS)('compiles with $compiler under the settings of `nest new`', async (compiler) => {
      expect(await compileStock(app(), 'src/health.ts', compiler)).toBe('');
    });

    it('returns 200 and up while nothing waits', async () => {
      expect(await health()).toMatchObject({ code: 200, status: 'ok', queue: { status: 'up' } });
      expect((await health()).queue.message).toBeUndefined();
    });

    it(`returns 200 and ${lateStatus}, with a message, while a due message exceeds maxOverdue`, async () => {
      await fetch(`${url}/orders`, { method: 'POST' });
      await until(async () => (await health()).queue.message !== undefined);
      expect(await health()).toMatchObject({
        code: 200,
        status: lateStatus === 'up' ? 'ok' : lateStatus,
        queue: { status: lateStatus, message: `due messages wait for longer than maxOverdue: ${queue}` },
      });
    });

    it('returns 503 and down while Redis is down, and 200 again once it is back', async () => {
      await redis.kill9();
      await until(async () => (await health()).code === 503);
      expect(await health()).toMatchObject({ status: 'error', queue: { status: 'down' } });
      await redis.restart();
      await until(async () => (await health()).code === 200, { within: 30_000 });
    });
  });
}
