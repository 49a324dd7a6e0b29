import { describe, expect, it } from '@jest/globals';
import type { Application } from './application.js';
import { countConnections } from './count-connections.js';
import { compileStock, STOCK_COMPILERS } from './stock-settings.js';
import { readReport, type TestRunner } from './test-runners.js';

/** The tests of `shop.spec.ts`. */
const TESTS = 5;

/** ms; they take 0.2 s, and 1.4 s while six other processes keep two cores busy. */
const TEST_TIME = 3000;

// Far more than needed; a test runner that has not exited by then is killed and fails.
const RUN_TIMEOUT = 60_000;

/** Declares the tests of an application whose queues are typed: `shop.ts`, tested by `shop.spec.ts`. */
export function describeTypedShop(testRunners: readonly TestRunner[], app: () => Application): void {
  describe('an application with typed queues', () => {
    it.each(STOCK_COMPILERS)('compiles with $compiler under the settings of `nest new`', async (compiler) => {
      expect(await compileStock(app(), 'src/shop.spec.ts', compiler)).toBe('');
    });

    // The file has @ts-expect-error before each wrong use, which is an error itself if the compiler finds nothing wrong.
    it.each(STOCK_COMPILERS)('does not compile with $compiler if its queues are misused', async (compiler) => {
      expect(await compileStock(app(), 'test/typed-queues.types.ts', compiler)).toBe('');
    });

    it.each(testRunners)('can be tested in $title within 3 s', async (runner) => {
      const { passed, total, time } = readReport(await testShop(app(), runner, { args: runner.json }));
      expect({ passed, total }).toEqual({ passed: TESTS, total: TESTS });
      expect(time).toBeLessThan(TEST_TIME);
    });

    it.each(testRunners)('can be tested in $title without connections or open handles', async (runner) => {
      const { args, read } = runner.openHandles;
      let open: readonly unknown[] = [];
      const connections = await countConnections(async (url) => {
        open = read(await testShop(app(), runner, { args, env: { REDIS_URL: url } }));
      });
      expect({ connections, open }).toEqual({ connections: 0, open: [] });
    });
  });
}

interface TestRun {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the shop's tests until the test runner has exited by itself. */
function testShop(app: Application, { command, env }: TestRunner, run: TestRun): Promise<string> {
  const [file, ...args] = command;
  const options = { env: { ...env, ...run.env }, timeout: RUN_TIMEOUT };
  return app.command(file, [...args, ...run.args, 'shop.spec'], options);
}
