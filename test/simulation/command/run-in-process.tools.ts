import { describe, expect, test } from '@jest/globals';
import type { RunOrder } from './run-order.js';
import { runInProcess } from './run-in-process.js';

const ORDER: RunOrder = {
  ...{ seed: '1', messages: 50, processes: 1, isQuiet: false, kinds: [] },
  ...{ without: [], only: undefined, goesOn: false },
};

describe('a run in a separate process', () => {
  test('is killed and reported when its virtual time stops', async () => {
    const outcome = await runInProcess(ORDER, { patience: 1 });
    expect(outcome).toMatchObject({ kind: 'hung', virtualTime: 0 });
    expect(outcome).toHaveProperty('detail', expect.stringContaining('Virtual time stood still'));
  });

  test('reports its last output when it crashes', async () => {
    const outcome = await runInProcess(ORDER, { narration: { kind: 'story', about: '(' } });
    expect(outcome).toMatchObject({ kind: 'crashed' });
    expect(outcome).toHaveProperty('detail', expect.stringContaining('SyntaxError'));
  });

  test('prints the history of a message', async () => {
    let story = '';
    const narration = { kind: 'story', about: 'm7' } as const;
    await runInProcess(ORDER, { narration, onText: (text) => (story += text) });
    expect(story).toMatch(/ m7 offered to \w+[^]* m7 starts, attempt 1\n[^]* m7 ends: /);
    expect(story).not.toMatch(/ m8 /);
  });
});
