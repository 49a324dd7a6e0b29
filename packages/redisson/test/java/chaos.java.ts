import { expect, test } from '@jest/globals';
import { problemsOf, summaryOf } from './chaos/chaos-report.js';
import { runChaos } from './chaos/chaos-run.js';
import { describeWithJava } from './java-suite.js';

describeWithJava('a queue shared by Java and Node while processes are killed', ({ line }) => {
  test('loses no message handled by Node, and delivers none early', async () => {
    const result = await runChaos({ line, lasts: 20_000, messages: 3000, killEvery: 3000, seed: 1 }, () => undefined);
    console.log(summaryOf(result));
    expect(problemsOf(result)).toEqual([]);
    expect(result.kills.node * result.kills.java).toBeGreaterThan(0);
  }, 400_000);
});
