import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Calls itself as often as `depth`, then runs the function. */
function descend(depth: number, act: () => never): never {
  return depth === 0 ? act() : descend(depth - 1, act);
}

describe.each([['redis'], ['memory']] as const)('the stack of a dead letter in the log, on %s', (store) => {
  const scene = new Scene();

  /** @returns the logged and the stored stack of the error that the handler throws */
  async function dieOf(handle: () => unknown) {
    const queue = scene.newQueue();
    const module = { ...(store === 'memory' && { store }), defaults: { attempts: 1 } };
    const { producer, stacks } = await scene.startApp({ module, providers: [handlerOf(queue, handle)] });
    const { id } = await producer.offer(queue, null, 0);
    await until(() => stacks.length > 0);
    await until(async () => (await producer.counts(queue)).dead === 1);
    const letter = await producer.find(queue, id);
    return { logged: stacks[0]!, stored: letter!.error!.stack! };
  }

  const { stackTraceLimit } = Error;
  beforeEach(() => {
    Error.stackTraceLimit = 10;
  });
  afterEach(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });

  const framesOf = (stack: string) => stack.split('\n').filter((line) => /^ +at /.test(line));

  test('has all frames that Node.js records by default', async () => {
    const { logged } = await dieOf(() => {
      descend(6, () => {
        throw new TypeError('no such customer');
      });
    });
    expect(logged).toContain('at TestHandler.handle ');
    expect(framesOf(logged)).toHaveLength(10);
  });

  test.each([12, 90])(
    'has the handler and at least ten other frames if Node.js records them: %d calls',
    async (depth) => {
      Error.stackTraceLimit = 200;
      const { logged, stored } = await dieOf(() => {
        descend(depth, () => {
          throw new TypeError('no such customer\non two lines');
        });
      });
      expect(logged).toMatch(/^TypeError: no such customer\non two lines\n +at /);
      expect(logged).toContain('at TestHandler.handle ');
      expect(framesOf(logged).length).toBeGreaterThan(10);
      expect(logged.length).toBeLessThan(20_000);
      expect(stored.split('\n').length).toBeLessThanOrEqual(6);
    },
  );

  test("includes the error's causes, each with its stack", async () => {
    const { logged } = await dieOf(() => {
      const refused = new Error('connect ECONNREFUSED');
      throw new Error('cannot charge', { cause: new RangeError('no answer', { cause: refused }) });
    });
    expect(logged).toMatch(
      /^Error: cannot charge\n +at [^]*\ncaused by RangeError: no answer\n +at [^]*\ncaused by Error: connect ECONNREFUSED\n +at /,
    );
  });

  test('includes a cause that is not an error, and ends even if the causes never do', async () => {
    const { logged } = await dieOf(() => {
      throw new Error('cannot charge', { cause: 'the till is closed' });
    });
    expect(logged).toMatch(/\ncaused by the till is closed$/);
    const endless = await dieOf(() => {
      const error = new Error('it was me');
      error.cause = error;
      throw error;
    });
    expect(endless.logged).toMatch(/^Error: it was me\n/);
    expect(endless.logged).not.toContain('caused by');
  });
});
