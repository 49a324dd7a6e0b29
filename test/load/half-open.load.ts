import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionRole } from '../../lib/redis/connection/redis-client.js';
import { Handled } from '../support/handled.js';
import { isEmpty } from '../support/is-empty.js';
import { Scene } from '../support/scene.js';
import { connectionsFor } from '../support/tcp-proxy/filters.js';
import { Proxies } from '../support/tcp-proxy/proxies.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const BLOCK_TIMEOUT = 1000;
const OFFER_TIMEOUT = 1000;
const CHECK_INTERVAL = 2000;
const LEASE = 2000;
/** The extra time, beyond its bound, that anything may take on a busy machine, ms. */
const SLACK = 4000;

const module = {
  offerTimeout: OFFER_TIMEOUT,
  defaults: { blockTimeout: BLOCK_TIMEOUT, checkInterval: CHECK_INTERVAL, lease: LEASE },
};

describe('half-open connections that lose all bytes without an error', () => {
  const scene = new Scene();
  const proxies = new Proxies(scene);

  /** Starts an application behind a proxy, and another one that offers without it. */
  async function startBehindProxy() {
    const queue = scene.newQueue();
    const handled = new Handled();
    const proxy = await proxies.start();
    const { producer } = await scene.startApp({ module: { consume: false } });
    // The application that starts last receives what is logged.
    const behind = await scene.startApp({
      module: { connection: proxy.url, ...module },
      providers: [handlerOf(queue, handled.record)],
    });
    await producer.offer(queue, null, 0, { id: 'first' });
    await handled.until('first');
    // The first message may have been claimed before the consumer waited for its wake-up signal.
    for (const command of ['SUBSCRIBE', 'BLPOP']) {
      await until(() => proxy.connections.some(({ sent }) => sent.has(command)));
    }
    return { queue, handled, proxy, behind, producer };
  }

  async function watchInTheDark({ roles, noticed }: { roles: readonly ConnectionRole[]; noticed: number }) {
    const { queue, handled, proxy, producer } = await startBehindProxy();
    const darkAt = performance.now();
    const dark = proxy.goDarkOnceFor((connection) => roles.some((role) => connectionsFor(role)(connection)));
    const ids = ['first'];
    const offering = (async () => {
      while (performance.now() < darkAt + noticed) {
        ids.push((await producer.offer(queue, null, 100)).id);
        await sleep(100);
      }
    })();
    await until(() => dark.every(({ isOpen }) => !isOpen), { within: noticed + SLACK });
    const took = Math.round(performance.now() - darkAt);
    await offering;
    const missing = () => ids.filter((id) => !handled.ids.includes(id));
    await until(() => missing().length === 0, { within: LEASE + SLACK });
    await until(() => isEmpty(producer, queue), {
      within: LEASE + SLACK,
    });
    return { connections: dark.length, took, handled };
  }

  test('are detected in time, whether one, two or all fail at once, and no message is lost or early', async () => {
    // One heartbeat and the wait for its answer.
    const announcements = BLOCK_TIMEOUT + OFFER_TIMEOUT;
    const wakeSignal = BLOCK_TIMEOUT + 5000;
    // Noticed when it is used, by the next check at the latest.
    const commands = CHECK_INTERVAL + OFFER_TIMEOUT;
    // A claim may have to fail before the consumer waits for its wake-up signal again.
    const commandsAndWakeSignals = OFFER_TIMEOUT + wakeSignal;
    const cases: { roles: ConnectionRole[]; noticed: number }[] = [
      { roles: ['announcements'], noticed: announcements },
      { roles: ['wake-signals'], noticed: wakeSignal },
      { roles: ['commands'], noticed: commands },
      { roles: ['announcements', 'wake-signals'], noticed: wakeSignal },
      { roles: ['announcements', 'commands'], noticed: commands },
      { roles: ['commands', 'wake-signals'], noticed: commandsAndWakeSignals },
      { roles: ['announcements', 'commands', 'wake-signals'], noticed: commandsAndWakeSignals },
    ];
    await Promise.all(
      cases.map(async (kind) => {
        const { connections, took, handled } = await watchInTheDark(kind);
        const late = handled.calls.map((call) => call.late);
        console.log(
          `${kind.roles.join(', ')} dark: noticed after ${took} ms, ${late.length} calls, at most ${Math.max(...late)} ms late`,
        );
        expect(connections).toBe(kind.roles.length);
        expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
        // The time until it is noticed, and until the leases end of claims whose answers never arrived.
        expect(Math.max(...late)).toBeLessThan(kind.noticed + LEASE + SLACK);
        expect(new Set(handled.calls.map(({ id, attempt }) => `${id} ${attempt}`)).size).toBe(handled.calls.length);
      }),
    );
  });

  test('delay an earlier message by at most the check interval if its announcement is lost', async () => {
    const { queue, handled, proxy, producer, behind } = await startBehindProxy();
    await producer.offer(queue, null, '1h');
    await until(() => proxy.connections.some(({ sent }) => sent.has('SUBSCRIBE')));
    const [announcements] = proxy.goDarkOnceFor(connectionsFor('announcements'));
    await producer.offer(queue, null, 50, { id: 'earlier' });
    const { late } = await handled.until('earlier', { within: CHECK_INTERVAL + SLACK });
    console.log(`announcement lost: ${late} ms late, with a check interval of ${CHECK_INTERVAL} ms`);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(CHECK_INTERVAL + SLACK);

    // The new subscription hears announcements again.
    await until(() => !announcements!.isOpen);
    await until(() => proxy.connections.some((other) => other.isOpen && other.sent.has('SUBSCRIBE')));
    await producer.offer(queue, null, 200, { id: 'heard' });
    expect((await handled.until('heard')).late).toBeLessThan(CHECK_INTERVAL);
    expect(behind.log).toContainEqual(expect.stringMatching(/^error .*announcements is down: no answer/));
  });

  test('make offers fail in time with typed errors, and a retry creates no duplicate', async () => {
    const { queue, proxy, behind, producer } = await startBehindProxy();
    const ids = Array.from({ length: 20 }, (_, i) => `m${i}`);
    const offer = async (id: string) => {
      const start = performance.now();
      const error = await behind.producer.offer(queue, id, '1h', { id }).then(
        () => undefined,
        (reason: { code: string; messageId: string }) => reason,
      );
      return { id, error, took: performance.now() - start };
    };
    // The first half is carried out without an answer; the second half never arrives.
    const answers = proxy.holdReplies(({ command }) => command === 'EVALSHA' || command === 'EVAL');
    const carriedOut = ids.slice(0, 10).map(offer);
    await until(async () => (await producer.counts(queue)).delayed === 10);
    proxy.goDarkOnceFor(() => true);
    const lost = ids.slice(10).map(offer);
    const outcomes = await Promise.all([...carriedOut, ...lost]);

    for (const { id, error, took } of outcomes) {
      expect(error).toMatchObject({ name: 'DelayQueueError', messageId: id });
      expect(error?.code).toMatch(/^(OUTCOME_UNKNOWN|NOT_CONNECTED)$/);
      expect(took).toBeLessThan(OFFER_TIMEOUT + SLACK);
    }
    expect(await producer.counts(queue)).toMatchObject({ delayed: 10 });

    answers.release();
    await until(async () => (await offer('m0')).error === undefined);
    const again = await Promise.all(ids.map((id) => behind.producer.offer(queue, id, '1h', { id })));
    expect(again.map(({ created }) => created)).toEqual(ids.map((_, i) => i >= 10));
    expect(await producer.counts(queue)).toMatchObject({ delayed: 20 });
  });

  test('are replaced if they fail while they are being opened', async () => {
    const { queue, handled, proxy, producer } = await startBehindProxy();
    const isForCommands = connectionsFor('commands');
    const isOpening = () => proxy.connections.filter((other) => isForCommands(other) && !other.sent.has('EVAL'));
    const light = proxy.goDark(isForCommands);
    await until(() => isOpening().length > 0, { within: CHECK_INTERVAL + OFFER_TIMEOUT + SLACK });
    light();
    await producer.offer(queue, null, 0, { id: 'after' });
    expect(await handled.until('after', { within: 3 * OFFER_TIMEOUT })).toMatchObject({ attempt: 1 });
  });
});
