import { describe, expect, test } from '@jest/globals';
import { BadRequestException } from '@nestjs/common';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

describe('dead letters', () => {
  const scene = new Scene();

  /** A queue whose handler fails until it is fixed. */
  async function brokenQueue(attempts = 3) {
    const queue = scene.newQueue();
    const handled = new Handled();
    const state = { broken: true };
    const handler = handlerOf(
      queue,
      (payload, message) => {
        handled.record(payload, message);
        if (state.broken) throw new TypeError(`cannot read ${String(payload)}`);
      },
      { attempts, backoff: { type: 'fixed', delay: 10 } },
    );
    const { producer } = await scene.startApp({ providers: [handler] });
    return { queue, handled, producer, letters: producer.deadLetters(queue), mend: () => (state.broken = false) };
  }

  test('keep messages that failed their last attempt, with their errors', async () => {
    const { queue, handled, producer, letters } = await brokenQueue();
    const before = Date.now();
    const { id } = await producer.offer(queue, 'this', 20, { headers: { tenant: 'a' } });
    await until(async () => (await producer.counts(queue)).dead === 1);

    const { messages: listed, cursor } = await letters.list();
    const [letter] = listed;
    expect(cursor).toBeNull();
    expect(letter).toMatchObject({
      id,
      queue,
      payload: 'this',
      headers: { tenant: 'a' },
      failedAttempts: 3,
      error: { name: 'TypeError', message: 'cannot read this' },
    });
    expect(letter!.error.stack).toContain('TypeError: cannot read this');
    expect(letter!.diedAt.getTime()).toBeGreaterThanOrEqual(before + 40);
    expect(handled.calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    const { diedAt, error } = letter!;
    expect(await producer.find(queue, id)).toMatchObject({ state: 'dead', failedAttempts: 3, diedAt, error });
  });

  test.each<[string, () => unknown, string]>([
    [
      'the properties that a ValidationPipe refuses',
      () => new BadRequestException(['email must be an email', 'age must be a number']),
      'BadRequestException: Bad Request Exception: email must be an email, age must be a number',
    ],
    [
      'the cause of a failed fetch',
      () => new TypeError('fetch failed', { cause: new Error('connect redis://app:hunter2@host') }),
      'TypeError: fetch failed; caused by Error: connect redis://***@host',
    ],
    [
      'the reason for a ClientProxy rejection',
      () => ({ status: 'error', message: 'no such order', card: 'hunter2' }),
      'NonError: status: error, message: no such order',
    ],
  ])('contain %s, as do the retry warnings', async (_what, make, expected) => {
    const queue = scene.newQueue();
    const fail = () => {
      throw make();
    };
    const { producer, log } = await scene.startApp({
      providers: [handlerOf(queue, fail, { attempts: 2, backoff: { type: 'fixed', delay: 0 } })],
    });
    await producer.offer(queue, 1, 0);
    await until(async () => (await producer.counts(queue)).dead === 1);
    const { messages } = await producer.deadLetters(queue).list();
    expect(`${messages[0]!.error.name}: ${messages[0]!.error.message}`).toBe(expected);
    await until(() => log.filter((line) => line.includes(expected)).length === 2);
    expect(log.filter((line) => line.includes(expected)).map((line) => line.split(' ')[0])).toEqual(['warn', 'error']);
    expect(log.join('\n')).not.toContain('hunter2');
  });

  test('are handled again from their first attempt after a redrive', async () => {
    const { queue, handled, producer, letters, mend } = await brokenQueue();
    await producer.offer(queue, 'again', 0, { id: 'again' });
    await until(async () => (await producer.counts(queue)).dead === 1);

    mend();
    expect(await letters.redrive('again')).toBe(true);
    await handled.untilCalls(4);
    await until(async () => (await producer.find(queue, 'again')) === null);

    expect(handled.calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1]);
    expect(await letters.redrive('again')).toBe(false);
    expect((await letters.list()).messages).toEqual([]);
  });

  test('are each listed on exactly one page, and redriveAll() redrives all that are left', async () => {
    const { queue, handled, producer, letters, mend } = await brokenQueue(1);
    await producer.offerMany(
      queue,
      Array.from({ length: 25 }, (_, i) => ({ payload: i, delay: 0, id: `m${i}` })),
    );
    await until(async () => (await producer.counts(queue)).dead === 25);

    const seen: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await letters.list({ limit: 10, ...(cursor && { cursor }) });
      seen.push(...page.messages.map(({ id }) => id));
      if (page.cursor === null) break;
      cursor = page.cursor;
    }
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);

    const page = await letters.list({ offset: 5, limit: 10 });
    expect(page.messages.map(({ id }) => id)).toEqual(seen.slice(5, 15));
    expect(page).toEqual(await producer.list(queue, 'dead', { offset: 5, limit: 10 }));

    expect(await letters.discard('m0')).toBe(true);
    expect(await letters.discard('m0')).toBe(false);
    mend();
    expect(await letters.redriveAll()).toBe(24);
    await handled.untilCalls(49);
    await until(() => isEmpty(producer, queue));
    expect(await letters.discardAll()).toBe(0);
  });

  test('are dropped beyond maxDeadLetters, oldest first, and the log says so', async () => {
    const queue = scene.newQueue();
    const handler = handlerOf(
      queue,
      () => {
        throw new Error('no');
      },
      { attempts: 1, maxDeadLetters: 3, concurrency: 1 },
    );
    const { producer, log } = await scene.startApp({ providers: [handler] });

    for (let i = 0; i < 5; i++) {
      await producer.offer(queue, i, 0, { id: `m${i}` });
      await until(async () => (await producer.find(queue, `m${i}`))?.state === 'dead');
    }

    const { messages: letters } = await producer.deadLetters(queue).list();
    expect(letters.map(({ id }) => id)).toEqual(['m2', 'm3', 'm4']);
    expect(log.filter((line) => line.startsWith('warn') && line.includes('maxDeadLetters'))).toHaveLength(2);
  });
});
