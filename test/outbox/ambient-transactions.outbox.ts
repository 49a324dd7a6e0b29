import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { startPostgresql } from '../support/databases/start-postgresql.js';
import { argumentsFor, ENVIRONMENT, setUpPrograms } from '../support/run-program.js';
import { until } from '../support/until.js';
import type { AmbientSettings, Call, Outcome } from './ambient-transactions.program.js';
import { relayed } from './outbox.rules.js';
import { OutboxScene } from './outbox-scene.js';

const PROGRAM = new URL('./ambient-transactions.program.ts', import.meta.url);

describe.each(['typeorm', 'prisma', 'drizzle'])('an offer in the ambient transaction, through %s,', (library) => {
  let databaseUrl = '';
  const scene = new OutboxScene(library, async () => {
    const { server, url } = await startPostgresql({ fsync: 'off' });
    databaseUrl = url;
    return { url, stop: () => server.stop() };
  });
  let child: ChildProcess | undefined;
  let removePrograms: () => void;
  beforeAll(() => void (removePrograms = setUpPrograms()));
  afterAll(() => removePrograms());
  afterEach(async () => {
    if (child?.kill('SIGKILL')) await once(child, 'exit');
    child = undefined;
  });

  /** Starts the application in a process of its own, and what looks at its messages. */
  async function start() {
    const queue = scene.newQueue();
    const looking = await scene.startApp({ outbox: { relay: false } });
    const settings: AmbientSettings = { library, databaseUrl, table: await scene.table(), queue, ...scene.target };
    const args = [...argumentsFor(PROGRAM), JSON.stringify(settings)];
    const application = spawn(process.execPath, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] });
    child = application;
    let url = '';
    createInterface(application.stdout).on('line', (line) => (url = line));
    await until(() => url !== '' || application.exitCode !== null, { within: 30_000 });
    return {
      queue,
      looking,
      async call(call: Call): Promise<Outcome> {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(call) });
        return ((await response.json()) as { outcome: Outcome }).outcome;
      },
      /** The ids of the messages, once no row is left. */
      async messages(): Promise<string[]> {
        await relayed(looking);
        return (await looking.producer.list(queue, 'delayed')).messages.map(({ id }) => id).sort();
      },
    };
  }

  it.each(['place', 'placeThroughProxy', 'placeNested', 'placeSeparately'] as const)(
    'makes a message if the transaction commits, and none if it rolls back (%s)',
    async (method) => {
      const { call, messages } = await start();
      expect(await call({ method, id: 'committed' })).toBe('done');
      expect(await call({ method, id: 'rolled back', fails: true })).toBe('failed');
      expect(await messages()).toEqual(['committed']);
    },
  );

  it('has the fate of the transaction of the calling method', async () => {
    const { call, messages } = await start();
    const within = (n: number): Call[] => [
      { method: 'place', id: `inner ${n}` },
      { method: 'placeNested', id: `nested ${n}` },
    ];
    expect(await call({ method: 'place', id: 'outer 1', within: within(1) })).toBe('done');
    expect(await call({ method: 'place', id: 'outer 2', within: within(2), fails: true })).toBe('failed');
    const failing: Call[] = [{ method: 'place', id: 'inner 3', fails: true }];
    expect(await call({ method: 'place', id: 'outer 3', within: failing, passesOn: true })).toBe('failed');
    expect(await messages()).toEqual(['inner 1', 'nested 1', 'outer 1']);
  });

  it('is undone with the savepoint that it was made in', async () => {
    const { call, messages } = await start();
    const within: Call[] = [
      { method: 'placeNested', id: 'undone', fails: true },
      { method: 'placeNested', id: 'kept' },
    ];
    expect(await call({ method: 'place', id: 'outer', within })).toBe('done');
    expect(await messages()).toEqual(['kept', 'outer']);
  });

  it('commits with a transaction of its own while the outer one rolls back, and the reverse', async () => {
    const { call, messages } = await start();
    const within: Call[] = [{ method: 'placeSeparately', id: 'separate 1' }];
    expect(await call({ method: 'place', id: 'outer 1', within, fails: true })).toBe('failed');
    const failing: Call[] = [{ method: 'placeSeparately', id: 'separate 2', fails: true }];
    expect(await call({ method: 'place', id: 'outer 2', within: failing })).toBe('done');
    expect(await messages()).toEqual(['outer 2', 'separate 1']);
  });

  it.each(['place', 'placeThroughProxy'] as const)(
    'stays out of the transactions of concurrent requests (%s)',
    async (method) => {
      const { call, messages } = await start();
      // The libraries' pools have ten connections each, and the relay needs some.
      const calls = Array.from({ length: 6 }, (_, i): Call => ({ method, id: `${i}`, meets: 6, fails: i % 2 === 1 }));
      for (const round of [1, 2, 3, 4, 5]) {
        const outcomes = await Promise.all(calls.map((one) => call({ ...one, id: `${round}.${one.id}` })));
        expect(outcomes).toEqual(['done', 'failed', 'done', 'failed', 'done', 'failed']);
      }
      expect(await messages()).toEqual([1, 2, 3, 4, 5].flatMap((round) => [0, 2, 4].map((i) => `${round}.${i}`)));
    },
  );

  it('is made by a handler as well', async () => {
    const { queue, looking, messages } = await start();
    await looking.producer.offer(`${queue}.due`, 'by a handler', 0);
    await until(async () => (await looking.producer.find(queue, 'by a handler')) !== null);
    expect(await messages()).toEqual(['by a handler']);
  });

  it.each(['placeOutside', 'placeOutsideThroughProxy'] as const)(
    'is refused where there is no transaction, and writes nothing (%s)',
    async (method) => {
      const { call, looking } = await start();
      expect(await call({ method, id: 'outside' })).toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/^transaction: must be one that is under way, not .* outside of a transaction/),
      });
      expect(await looking.outbox.status()).toMatchObject({ waiting: 0, failed: 0 });
    },
  );
});
