import { describe, expect, it } from '@jest/globals';
import { encryption } from 'nestjs-delay-queue/encryption';
import { calendar } from 'nestjs-delay-queue/calendar';
import { DelayQueueExporter, type ImportOptions } from 'nestjs-delay-queue/export';
import { RejectMessage, type DelayQueueModuleOptions, type MessageSnapshot } from '../../lib/index.js';
import { randomName } from '../support/random-name.js';
import { Scene } from '../support/scene.js';
import { handlerOf, type TestApp, type TestAppParts } from '../support/test-app.js';
import { until } from '../support/until.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const IDLE = { consume: false, calendar, defaults: { groups: { concurrency: 1 } } } as const;

describe('an export', () => {
  const scene = new Scene();
  const start = (module: DelayQueueModuleOptions = IDLE, { providers = [] }: TestAppParts = {}) =>
    scene.startApp({ module, providers: [DelayQueueExporter, ...providers] });
  const exporterOf = ({ context }: TestApp) => context.get(DelayQueueExporter);

  /** The lines of an export, as they come from a file. */
  async function exportOf(app: TestApp, queue: string): Promise<string[]> {
    const lines: string[] = [];
    for await (const line of exporterOf(app).exportQueue(queue)) lines.push(line.slice(0, -1));
    return lines;
  }

  const read = (line: string | undefined) => JSON.parse(line!) as Record<string, unknown>;
  const endOf = (lines: readonly string[]) => read(lines.at(-1));
  const importInto = (app: TestApp, queue: string, lines: readonly string[], options?: ImportOptions) =>
    exporterOf(app).importQueue(queue, lines, options);

  /** Everything that can be seen of a queue, by id. */
  async function everything({ producer }: TestApp, queue: string): Promise<Record<string, Partial<MessageSnapshot>>> {
    const pages = await Promise.all(
      (['delayed', 'ready', 'active', 'dead'] as const).map((state) => producer.list(queue, state, { limit: 1000 })),
    );
    const seen = pages.flatMap(({ messages }) =>
      messages.map(({ queue: _, state, leasedUntil: __, ...rest }): [string, object] => [
        rest.id,
        { ...rest, isDead: state === 'dead' },
      ]),
    );
    return Object.fromEntries(seen.sort());
  }

  /** Fills a queue with messages of all kinds, and pauses it. */
  async function fill(queue: string): Promise<void> {
    const app = await start(
      { calendar, defaults: { groups: { concurrency: 1 }, attempts: 3, backoff: { type: 'fixed', delay: '1h' } } },
      {
        providers: [
          handlerOf(queue, (payload) => {
            if (payload === 'reject') throw new RejectMessage('no such order');
            throw new Error('try again');
          }),
        ],
      },
    );
    const { producer } = app;
    await producer.offer(queue, 'reject', 0, { id: 'dead', headers: { tenant: 'acme' } });
    await producer.offer(queue, 'retry', 0, { id: 'retried' });
    await producer.offer(queue, 'retry', 0, { id: 'retried in a group', group: 'g' });
    await until(async () => (await producer.counts(queue)).dead === 1);
    await until(async () => (await producer.find(queue, 'retried'))?.failedAttempts === 1);
    await until(async () => (await producer.find(queue, 'retried in a group'))?.failedAttempts === 1);
    await producer.pause(queue);
    await producer.offer(queue, 'behind it', 0, { id: 'in line', group: 'g' });
    await producer.offer(queue, { a: '\u2028é😀\u0007' }, '1h', { id: 'delayed', type: 'remind', headers: { k: 'v' } });
    await producer.offer(queue, Buffer.from([0, 255, 10, 13, 128]), '1h', { id: 'bytes' });
    await producer.offer(queue, 1, '1h', { id: 'own', attempts: 7, backoff: { type: 'fixed', delay: '5s' } });
    await producer.offer(queue, 2, '1h', { id: 'expires', expiresAfter: '2h', onExpired: 'drop' });
    await producer.offer(queue, 3, 0, { id: 'ready' });
    await producer.repeat(queue, 'daily', { cron: '0 9 * * *', timeZone: 'Europe/Berlin' }, 4);
    await producer.repeat(queue, 'paused', { every: '1d', limit: 9 }, 5);
    await producer.repeats(queue).pause('paused');
    await producer.group(queue, 'g').setConcurrency(3);
    await producer.group(queue, 'p').pause();
    await producer.limits(queue).set({ globalConcurrency: 5, rate: { max: 10, per: '1s' } }, { by: 'alice' });
    await app.close();
  }

  it('moves a queue with everything that it has, to another queue and prefix', async () => {
    const [queue, target] = [scene.newQueue(), scene.newQueue()];
    await fill(queue);
    const app = await start();
    const lines = await exportOf(app, queue);
    expect(read(lines[0])).toMatchObject({ kind: 'export', version: 1, queue, layout: 'native', prefix: scene.prefix });
    expect(endOf(lines)).toMatchObject({ kind: 'end', messages: 11, inUse: false });

    const other = await start({ ...IDLE, prefix: `${scene.prefix}:other` });
    const report = await importInto(other, target, lines);
    expect(report).toEqual({
      ...{ messages: 11, created: 11, kept: 0, replaced: 0, entries: 0, ids: 0, dropped: 0, inUse: false },
      digest: endOf(lines).digest,
    });
    expect(await everything(other, target)).toEqual(await everything(app, queue));
    expect(await other.producer.isPaused(target)).toBe(true);
    expect(await other.producer.limits(target).get()).toEqual(await app.producer.limits(queue).get());
    const { groups } = await other.producer.groups(target);
    expect(groups).toMatchObject([
      { group: 'g', concurrency: 3, paused: false, holders: expect.arrayContaining(['retried in a group']) as unknown },
      { group: 'p', concurrency: undefined, paused: true },
    ]);
    expect(await other.producer.queues()).toMatchObject({ queues: [target] });
    expect(endOf(await exportOf(other, target))).toEqual(endOf(lines));
  });

  it('is the same after a move to more partitions, and back', async () => {
    const [queue, wide, narrow] = [scene.newQueue(), scene.newQueue(), scene.newQueue()];
    const app = await start({ ...IDLE, queues: { [wide]: { partitions: 4 } } });
    await app.producer.offerMany(
      queue,
      Array.from({ length: 100 }, (_, i) => ({
        payload: i,
        delay: '1h',
        id: `m${i}`,
        ...(i % 3 === 0 && { group: 'g' }),
      })),
    );
    await app.producer.pause(queue);
    const lines = await exportOf(app, queue);
    expect(await importInto(app, wide, lines)).toMatchObject({ created: 100 });
    const again = await exportOf(app, wide);
    expect(endOf(again)).toEqual(endOf(lines));
    expect(await importInto(app, narrow, again)).toMatchObject({ created: 100 });
    expect(await everything(app, narrow)).toEqual(await everything(app, queue));
    // A process that does not know the number of partitions finds and fills them, too.
    const unaware = await start(IDLE);
    expect(endOf(await exportOf(unaware, wide))).toEqual(endOf(lines));
    expect(await importInto(unaware, wide, lines)).toMatchObject({ kept: 100 });
  });

  it('finds ids in the partitions where an earlier number of partitions has placed them', async () => {
    const queue = scene.newQueue();
    const first = await start();
    const offers = Array.from({ length: 50 }, (_, i) => ({ payload: i, delay: '1h', id: `m${i}` }));
    await first.producer.offerMany(queue, offers);
    const lines = await exportOf(first, queue);
    await first.close();
    const grown = await start({ ...IDLE, queues: { [queue]: { partitions: 3 } } });
    expect(await importInto(grown, queue, lines)).toMatchObject({ created: 0, kept: 50 });
    expect(await importInto(grown, queue, lines, { onDuplicate: 'replace' })).toMatchObject({ replaced: 50 });
    expect((await grown.producer.counts(queue)).delayed).toBe(50);
  });

  it('moves encrypted payloads as they are, without the keys', async () => {
    const [queue, target] = [scene.newQueue(), scene.newQueue()];
    const keys = { encryption: encryption({ current: 'k1', keys: { k1: KEY } }) };
    const withKeys = await start({ consume: false, queues: { [queue]: keys, [target]: keys } });
    await withKeys.producer.offer(queue, { card: 4711 }, '1h', { id: 'a' });
    const lines = await exportOf(await start(), queue);
    expect(lines.join('\n')).not.toContain('4711');
    await importInto(await start(), target, lines);
    expect(await withKeys.producer.find(target, 'a')).toMatchObject({ payload: { card: 4711 } });
  });

  it('has a follower, which takes the place of its message after the move', async () => {
    const [queue, target] = [scene.newQueue(), scene.newQueue()];
    const seen: unknown[] = [];
    let finish!: () => void;
    const busy = new Promise<void>((resolve) => (finish = resolve));
    const worker = await start({}, { providers: [handlerOf(queue, () => busy)] });
    await worker.producer.offer(queue, 'first', 0, { id: 'a' });
    await until(async () => (await worker.producer.counts(queue)).active === 1);
    await worker.producer.offer(queue, 'second', 10, { id: 'a', onDuplicate: 'follow' });
    const lines = await exportOf(worker, queue);
    expect(endOf(lines)).toMatchObject({ messages: 1, inUse: true });
    finish();
    const other = await start({}, { providers: [handlerOf(target, (payload) => void seen.push(payload))] });
    await importInto(other, target, lines);
    await until(() => seen.length === 2);
    expect(seen).toEqual(['first', 'second']);
  });

  it('gives a message that was active no failed attempt', async () => {
    const [queue, target] = [scene.newQueue(), scene.newQueue()];
    let finish!: () => void;
    const busy = new Promise<void>((resolve) => (finish = resolve));
    const worker = await start({}, { providers: [handlerOf(queue, () => busy)] });
    await worker.producer.offer(queue, 1, 0, { id: 'a' });
    await until(async () => (await worker.producer.counts(queue)).active === 1);
    const lines = await exportOf(worker, queue);
    finish();
    const other = await start();
    await importInto(other, target, lines);
    expect(await other.producer.find(target, 'a')).toMatchObject({ failedAttempts: 0, state: 'delayed' });
    expect((await other.producer.find(target, 'a'))!.dueAt.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('has the history and the kept ids, which have the same effect after a move, also to more partitions', async () => {
    const [queue, target] = [scene.newQueue(), scene.newQueue()];
    const past = { idsFor: { for: '1h' }, history: { for: '1h', payloads: true }, groups: { concurrency: 1 } } as const;
    const queues = { [queue]: past, [target]: { ...past, partitions: 3 } } as const;
    const worker = await start({ queues }, { providers: [handlerOf(queue, () => undefined)] });
    const { producer } = worker;
    const ids = Array.from({ length: 20 }, (_, i) => `m${i}`);
    await producer.offerMany(
      queue,
      ids.map((id, i) => ({ id, payload: i, delay: 0, ...(i % 2 === 0 && { group: 'g' }) })),
    );
    await until(async () => (await producer.list(queue, 'handled')).messages.length === 20);
    await until(async () => (await producer.counts(queue)).active === 0);
    await producer.pause(queue);

    // As the command line does, without the options of the queues.
    const tool = await start();
    const lines = await exportOf(tool, queue);
    expect(lines.map((line) => read(line).kind).filter((kind) => kind === 'handled' || kind === 'kept')).toHaveLength(
      40,
    );
    expect(await importInto(tool, target, lines)).toMatchObject({ messages: 0, entries: 20, ids: 20, dropped: 0 });
    expect(await importInto(tool, target, lines)).toMatchObject({ entries: 0, ids: 0, dropped: 0 });
    expect(endOf(await exportOf(tool, target))).toMatchObject({ digest: endOf(lines).digest });

    const moved = await start({ consume: false, queues });
    for (const [i, id] of ids.entries()) {
      const before = await producer.find(queue, id, { handled: true });
      expect(await moved.producer.find(target, id, { handled: true })).toEqual({ ...before, queue: target });
      const options = { id, ...(i % 2 === 0 && { group: 'g' }) };
      const { handledAt } = await producer.offer(queue, i, 0, options);
      expect(handledAt).toBeInstanceOf(Date);
      expect(await moved.producer.offer(target, i, 0, options)).toMatchObject({ created: false, handledAt });
    }
    expect(await moved.producer.freeId(target, 'm1')).toBe(true);
    expect(await moved.producer.offer(target, 1, '1h', { id: 'm1' })).toMatchObject({ created: true });
  });

  it('keeps a declared message that was cancelled from being offered again', async () => {
    const [queue, prefix] = [scene.newQueue(), `${scene.prefix}:${randomName('declared')}`];
    const app = await start();
    await app.producer.offer(queue, 1, '1h');
    await scene.redis.hset(scene.key(queue, 'declared'), 'digest', 1);
    const other = await start({ ...IDLE, prefix });
    await importInto(other, queue, await exportOf(app, queue));
    expect(await scene.redis.hgetall(`${prefix}:{${queue}}:declared`)).toEqual({ digest: '1' });
  });

  it('of a queue in use has each message that is there from start to end', async () => {
    const [queue, target] = [scene.newQueue(), scene.newQueue()];
    const worker = await start(
      { defaults: { attempts: 1000, backoff: { type: 'fixed', delay: 1 } } },
      { providers: [handlerOf(queue, () => Promise.reject(new Error('again')), { concurrency: 50 })] },
    );
    const ids = Array.from({ length: 2000 }, (_, i) => `m${i}`);
    await worker.producer.offerMany(
      queue,
      ids.map((id) => ({ id, payload: 'x'.repeat(100), delay: 0 })),
    );
    for (let round = 0; round < 5; round++) {
      const lines = await exportOf(worker, queue);
      const found = new Set(lines.map((line) => read(line).id).filter((id) => id !== undefined));
      expect(found.size).toBe(2000);
      expect(endOf(lines)).toMatchObject({ inUse: true });
      if (round === 0) {
        const idle = await start();
        expect((await importInto(idle, target, lines)).created).toBe(2000);
      }
    }
  });

  it('can be imported into a queue in use, whose messages are handled meanwhile', async () => {
    const [queue, target] = [scene.newQueue(), scene.newQueue()];
    const handled: string[] = [];
    const app = await start();
    const offers = (prefix: string) =>
      Array.from({ length: 500 }, (_, i) => ({ id: `${prefix}${i}`, payload: 1, delay: 0 }));
    await app.producer.offerMany(queue, offers('m'));
    const lines = await exportOf(app, queue);
    const worker = await start({}, { providers: [handlerOf(target, (_, { id }) => void handled.push(id))] });
    const [report] = await Promise.all([
      importInto(worker, target, lines),
      worker.producer.offerMany(target, offers('own')),
    ]);
    expect(report).toMatchObject({ created: 500 });
    await until(() => handled.length === 1000);
    expect(new Set(handled).size).toBe(1000);
  });
});

describe('an import', () => {
  const scene = new Scene();
  const start = (module: DelayQueueModuleOptions = IDLE) => scene.startApp({ module, providers: [DelayQueueExporter] });
  const HEADER = { kind: 'export', version: 1, queue: 'q', layout: 'native', prefix: 'p', at: 1 };
  const MESSAGE = { kind: 'message', id: 'a', due: 4_000_000_000_000, offered: 1, body: 'J1' };
  const WORKER = { id: 'w', host: 'h', pid: 1 };
  const TIMES = { at: 1, until: 2, due: 1, offered: 1, lateness: 0, took: 1 };
  const HANDLED = { kind: 'handled', id: 'a', ...TIMES, attempt: 1, worker: WORKER };
  const END = { kind: 'end', messages: 0, digest: '0'.repeat(64), inUse: false };
  const linesOf = (...lines: object[]) => lines.map((line) => JSON.stringify(line));

  it.each([
    ['a line that is not JSON', ['{"kind":'], 'line 1: it is not JSON'],
    ['no header', linesOf(MESSAGE), 'line 1: the first line'],
    ['two headers', linesOf(HEADER, HEADER), 'line 2: the first line, and no other'],
    ['a newer format', linesOf({ ...HEADER, version: 2 }), 'line 1: the format has version 2'],
    ['an unknown kind', linesOf(HEADER, { kind: 'job' }), "line 2: kind must be 'export' or"],
    ['an impossible id', linesOf(HEADER, { ...MESSAGE, id: 'a\nb' }), 'line 2: id: a message id must be text'],
    ['no due time', linesOf(HEADER, { ...MESSAGE, due: undefined }), 'line 2: due must be a whole number'],
    ['a due time with a fraction', linesOf(HEADER, { ...MESSAGE, due: 1.5 }), 'line 2: due must be a whole number'],
    ['negative attempts', linesOf(HEADER, { ...MESSAGE, failed: -1 }), 'line 2: failed must be a whole number'],
    ['a rank of another time', linesOf(HEADER, { ...MESSAGE, rank: 5 }), 'line 2: rank must be from 4000000000000'],
    [
      'a handled message without a worker',
      linesOf(HEADER, { ...HANDLED, worker: undefined }),
      'line 2: worker: it must be an object',
    ],
    ['an entry without a time', linesOf(HEADER, { ...HANDLED, at: undefined }), 'line 2: at must be a whole number'],
    ['a kept id without an end', linesOf(HEADER, { kind: 'kept', id: 'a', at: 1 }), 'line 2: until must be a whole'],
    ['no body', linesOf(HEADER, { ...MESSAGE, body: undefined }), 'line 2: body must be text'],
    ['broken base64', linesOf(HEADER, { ...MESSAGE, base64: 'a' }), 'line 2: base64 must be base64'],
    ['a death without an error', linesOf(HEADER, { ...MESSAGE, died: { at: 1 } }), 'line 2: died: error must be text'],
    [
      'a follower without a time',
      linesOf(HEADER, { ...MESSAGE, follower: { body: 'J' } }),
      'line 2: follower: at must be',
    ],
    [
      'an impossible group',
      linesOf(HEADER, { ...MESSAGE, body: 'Ngroup\n\u0007\nJ1' }),
      'line 2: group: the name of a group',
    ],
    ['no end', linesOf(HEADER), 'after line 1: the export is cut off'],
    ['a missing line', linesOf(HEADER, { ...END, messages: 1 }), 'line 2: the export had 1 messages, but there are 0'],
    ['a changed line', linesOf(HEADER, MESSAGE, { ...END, messages: 1 }), 'line 3: the digest differs'],
    ['a line behind the end', linesOf(HEADER, END, MESSAGE), 'line 3: nothing may follow'],
  ])('refuses %s, and names the line', async (_what, lines, problem) => {
    const [app, queue] = [await start(), scene.newQueue()];
    const importing = app.context.get(DelayQueueExporter).importQueue(queue, lines, { dryRun: true });
    await expect(importing).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(importing).rejects.toThrow(problem);
  });

  it('writes nothing of a batch with a malformed line', async () => {
    const [app, queue] = [await start(), scene.newQueue()];
    const lines = linesOf(HEADER, MESSAGE, { ...MESSAGE, id: '' });
    await expect(app.context.get(DelayQueueExporter).importQueue(queue, lines)).rejects.toThrow('line 3: id');
    expect((await app.producer.counts(queue)).delayed).toBe(0);
  });

  it('does not stop at a message that the export has twice with onDuplicate reject, and can be repeated', async () => {
    const [app, queue] = [await start(), scene.newQueue()];
    const exporter = app.context.get(DelayQueueExporter);
    const lines = linesOf(HEADER, { ...MESSAGE, failed: 1 }, MESSAGE);
    for (let round = 0; round < 2; round++) {
      const importing = exporter.importQueue(queue, lines, { onDuplicate: 'reject' });
      // It has reached the end, which is missing here.
      await expect(importing).rejects.toThrow('after line 3: the export is cut off');
      expect((await app.producer.counts(queue)).delayed).toBe(1);
    }
    expect(await app.producer.find(queue, 'a')).toMatchObject({ failedAttempts: 1 });
  });

  it('leaves out what is too old to be kept, and counts it', async () => {
    const [app, queue] = [await start(), scene.newQueue()];
    const exporter = app.context.get(DelayQueueExporter);
    const lines = linesOf(HEADER, HANDLED, { kind: 'kept', id: 'a', at: 1, until: 2 });
    await expect(exporter.importQueue(queue, lines)).rejects.toThrow('the export is cut off');
    expect((await app.producer.list(queue, 'handled')).messages).toEqual([]);
    expect(await scene.redis.exists(scene.key(queue, 'kept'), scene.key(queue, 'handled'))).toBe(0);
  });

  it('stops at the first id in use with onDuplicate reject, and names its line', async () => {
    const [app, queue] = [await start(), scene.newQueue()];
    await app.producer.offer(queue, 'mine', '1h', { id: 'a' });
    const importing = app.context
      .get(DelayQueueExporter)
      .importQueue(queue, linesOf(HEADER, MESSAGE, END), { onDuplicate: 'reject' });
    await expect(importing).rejects.toMatchObject({ code: 'DUPLICATE_MESSAGE', messageId: 'a' });
    await expect(importing).rejects.toThrow('line 2: ');
    expect(await app.producer.find(queue, 'a')).toMatchObject({ payload: 'mine' });
  });

  it('writes nothing in a dry run', async () => {
    const [app, queue, source] = [await start(), scene.newQueue(), scene.newQueue()];
    await app.producer.offer(source, 1, '1h', { group: 'g' });
    await app.producer.pause(source);
    await app.producer.group(source, 'g').pause();
    const exporter = app.context.get(DelayQueueExporter);
    const lines: string[] = [];
    for await (const line of exporter.exportQueue(source)) lines.push(line);
    expect(await exporter.importQueue(queue, lines, { dryRun: true })).toMatchObject({ messages: 1, created: 0 });
    expect(await scene.redis.keys(`*${queue}*`)).toEqual([]);
    expect((await app.producer.queues({ limit: 1000 })).queues).not.toContain(queue);
  });

  it('writes no more messages in a second than it may', async () => {
    const [app, queue] = [await start(), scene.newQueue()];
    const source = scene.newQueue();
    const offers = Array.from({ length: 1500 }, (_, i) => ({ id: `m${i}`, payload: 1, delay: '1h' }));
    await app.producer.offerMany(source, offers);
    const exporter = app.context.get(DelayQueueExporter);
    const lines: string[] = [];
    for await (const line of exporter.exportQueue(source)) lines.push(line);
    const startedAt = performance.now();
    await exporter.importQueue(queue, lines, { perSecond: 5000 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(300);
  });

  it.each([
    [{ onDuplicate: 'follow' as 'keep' }, "onDuplicate must be 'keep' or 'replace' or 'reject', not 'follow'"],
    [{ dryRun: 1 as unknown as boolean }, 'dryRun must be true or false'],
    [{ perSecond: 0 }, 'perSecond must be a whole number from 1'],
    [{ rate: 1 } as ImportOptions, 'options: must be an object with onDuplicate, dryRun, perSecond'],
  ])('refuses the options %j', async (options, problem) => {
    const [app, queue] = [await start(), scene.newQueue()];
    const importing = app.context.get(DelayQueueExporter).importQueue(queue, linesOf(HEADER, END), options);
    await expect(importing).rejects.toThrow(problem);
  });

  it('refuses messages with groups, and a queue that has some, if this process ignores groups', async () => {
    const [app, queue] = [await start(), scene.newQueue()];
    const without = await start({ consume: false });
    const lines = linesOf(HEADER, { ...MESSAGE, body: 'Ngroup\ng\nJ1' });
    const exporter = without.context.get(DelayQueueExporter);
    await expect(exporter.importQueue(queue, lines)).rejects.toThrow(/^line 2: message 'a': queue .* has no groups/);
    await app.producer.offer(queue, 1, '1h', { group: 'g' });
    await expect(exporter.exportQueue(queue).next()).rejects.toThrow(
      /has messages with groups, which this process ignores/,
    );
  });

  it('refuses the concurrency of a group that does not go with the rate of groups', async () => {
    const queue = scene.newQueue();
    const queues = { [queue]: { groups: { rate: { max: 1, per: '1s' } } } } as const;
    const { context } = await start({ consume: false, queues });
    const settings = { kind: 'group', group: 'a', paused: false, concurrency: 'unlimited' };
    const lines = linesOf(HEADER, settings, END);
    await expect(context.get(DelayQueueExporter).importQueue(queue, lines)).rejects.toThrow(
      /^line 2: concurrency: must be a whole number from 1 to 1000/,
    );
  });

  it('refuses limits for a queue with partitions before it writes anything', async () => {
    const queue = scene.newQueue();
    const app = await start({ ...IDLE, queues: { [queue]: { partitions: 2 } } });
    const settings = { kind: 'settings', paused: true, limits: { globalConcurrency: 1, by: 'me', at: 1 } };
    const importing = app.context.get(DelayQueueExporter).importQueue(queue, linesOf(HEADER, settings, MESSAGE));
    await expect(importing).rejects.toThrow(/^line 2: .*partitions: 2/);
    expect(await app.producer.isPaused(queue)).toBe(false);
  });
});
