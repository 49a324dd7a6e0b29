import { describe, expect, it } from '@jest/globals';
import { DelayQueueError } from '../../lib/message/delay-queue-errors.js';
import { resolveQueueOptions } from '../../lib/options/resolve-options.js';
import { redisson } from '../../packages/redisson/src/index.js';
import { GroupsCheck } from '../../lib/groups/groups-check.js';
import type { GroupRules } from '../../lib/store/message-store.js';
import { LoggedEvents } from '../support/logged-events.js';

const queue = { name: 'orders', options: resolveQueueOptions() };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function newCheck(answers: (boolean | Error)[] = []) {
  const events = new LoggedEvents();
  const asked: string[] = [];
  let announce: (rules: GroupRules) => void = () => undefined;
  const check = new GroupsCheck(
    {
      haveGroups: (name) => {
        asked.push(name);
        const answer = answers.shift() ?? false;
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
      announce: (_queue, _rules, onOther) => void (announce = onOther),
    },
    events,
  );
  return { check, events, asked, announce: (rules: GroupRules) => announce(rules) };
}

describe('messages with groups', () => {
  it('are reported once if the process does not handle groups, and are then not searched for again', async () => {
    const { check, events, asked } = newCheck([false, true, true]);
    for (let i = 0; i < 4; i++) {
      check.lookerAt(queue)!();
      await turn();
    }
    expect(events.lines).toHaveLength(1);
    expect(events.lines[0]).toMatch(
      /^warn orders: the queue has messages with groups, but this process handles it without/,
    );
    expect(asked).toHaveLength(2);
  });

  it('are not searched for if the process handles groups or the layout has none', async () => {
    const { check, asked } = newCheck([true, true]);
    for (const options of [resolveQueueOptions({ groups: {} }), resolveQueueOptions({ layout: redisson() })]) {
      expect(check.lookerAt({ name: 'orders', options })).toBeUndefined();
      expect(await check.ignoresGroups({ name: 'orders', options })).toBe(false);
    }
    expect(asked).toEqual([]);
  });

  it('are not reported if the user lacks permission or there is no response', async () => {
    const refused = new DelayQueueError('STORE_REFUSED', 'NOPERM');
    const { check, events } = newCheck([refused, new Error('no answer'), refused, new Error('no answer')]);
    for (let i = 0; i < 2; i++) {
      check.lookerAt(queue)!();
      await turn();
    }
    expect(events.lines).toEqual([]);
    expect(await check.ignoresGroups(queue)).toBe(false);
    await expect(check.ignoresGroups(queue)).rejects.toThrow('no answer');
  });
});

describe('processes with different group options', () => {
  it('are reported once for each set of options', () => {
    const { check, events, announce } = newCheck();
    check.compare('orders', resolveQueueOptions({ groups: { concurrency: 2 } }));
    for (const concurrency of [1, 1, null, 1]) announce({ concurrency, onRetry: 'hold' });
    expect(events.lines.map((line) => /another one has (\{.*?\})/.exec(line)?.[1])).toEqual([
      "{ concurrency: 1, onRetry: 'hold' }",
      "{ concurrency: 'unlimited', onRetry: 'hold' }",
    ]);
  });
});
