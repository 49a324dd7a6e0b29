import { type DynamicModule, type FactoryProvider, Global, Module } from '@nestjs/common';
import { dueAt } from '../message/duration.js';
import { TEST_OVERRIDES } from '../runtime/delay-queue-tokens.js';
import { ApplicationUnderTest } from './application-under-test.js';
import { DelayQueueTester } from './delay-queue-tester.js';
import { TestBench } from './test-bench.js';

/**
 * Replaces Redis and time in an application under test: messages live in memory, nothing connects, and nothing falls due until a {@link
 * DelayQueueTester} moves time. There is nothing to override, and the order of imports does not matter. Virtual time starts at the current
 * `Date` when the module is compiled, or at the time given to {@link DelayQueueTestingModule.startAt}.
 * @example
 * ```ts
 * const module = await Test.createTestingModule({ imports: [AppModule, DelayQueueTestingModule] }).compile();
 * await module.init();
 * const queue = module.get(DelayQueueTester);
 * ```
 */
@Global()
@Module({
  providers: [benchFrom(() => Date.now()), ApplicationUnderTest, DelayQueueTester],
  exports: [TEST_OVERRIDES, DelayQueueTester],
})
export class DelayQueueTestingModule {
  /**
   * Returns the module with virtual time that starts at a given time.
   * @param date - between 1970 and 9999
   * @throws DelayQueueError `INVALID_ARGUMENT`
   */
  static startAt(date: Date): DynamicModule {
    const { at } = dueAt(date);
    return { module: DelayQueueTestingModule, providers: [benchFrom(() => at)] };
  }
}

function benchFrom(start: () => number): FactoryProvider<TestBench> {
  return { provide: TEST_OVERRIDES, useFactory: () => new TestBench(start()) };
}
