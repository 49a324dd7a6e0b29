import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { getDelayQueueProducerToken } from 'nestjs-delay-queue';
import type {
  ChangedView,
  ErrorListView,
  GroupListView,
  HandledListView,
  HandledView,
  HistogramView,
  JobAnswer,
  JobView,
  LimitsView,
  MessageListView,
  MessageView,
  QueueListView,
  QueueRow,
  QueueView,
  RepeatListView,
  WorkerListView,
} from 'nestjs-delay-queue-board';
import { DescribedClient } from '../support/board/described-client.js';
import { type PageApplication, startPageApplication } from '../support/board/page-application.js';
import { offerSamples, sampleQueues } from '../support/board/sample-queues.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

describe('the API of the board', () => {
  const scene = new Scene();
  let app: PageApplication;
  let board: DescribedClient;

  beforeAll(async () => {
    app = await startPageApplication({ parts: sampleQueues(scene.url, scene.prefix) });
    board = new DescribedClient(app.board.url);
    await offerSamples(app.producer, app.app.get(getDelayQueueProducerToken('billing')));
    await until(async () => (await app.producer.counts('orders')).dead === 8);
  });
  afterAll(() => app?.close());

  const get = async <Body>(path: string) => (await board.get<Body>(path)).body;
  const change = async (path: string, body?: object) =>
    (await board.post<ChangedView>(`i/-/queues/${path}`, body)).body;

  /** Runs a job to its end. */
  async function run(queue: string, body: object): Promise<JobView> {
    const started = await board.post<JobAnswer>(`i/-/queues/${queue}/jobs`, body);
    expect(started.status).toBe(202);
    let job = started.body.job;
    await until(async () => {
      job = (await get<JobAnswer>(`i/-/jobs/${job.id}`)).job;
      return job.state !== 'running';
    });
    return job;
  }

  test('lists queues by name, page by page, and by their beginning', async () => {
    const names: string[] = [];
    let cursor: string | null = '';
    do {
      const page: QueueListView = await get(`i/-/queues?limit=4&cursor=${cursor}`);
      names.push(...page.queues.map(({ name }) => name));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(names).toEqual(['emails', 'exports', 'nobody', 'orders', 'paused', 'reminders']);
    expect((await get<QueueListView>('i/-/queues?prefix=or')).queues.map(({ name }) => name)).toEqual(['orders']);
    expect((await get<QueueListView>('i/-/queues?prefix=x')).queues).toEqual([]);
  });

  test('says in words what is wrong with a queue', async () => {
    const notesOf = async (queue: string) =>
      (await get<QueueView>(`i/-/queues/${queue}`)).notes.map(({ text }) => text);
    expect(await notesOf('paused')).toContain('This queue is paused.');
    expect(await notesOf('orders')).toContain('8 messages have failed.');
    await until(async () => (await get<QueueView>('i/-/queues/orders')).workers === 1);
    expect(await notesOf('nobody')).toContain('No process handles this queue.');
    expect(await notesOf('orders')).not.toContain('No process handles this queue.');
  });

  test('shows a queue with its layout, and counts its types if asked', async () => {
    const queue = await get<QueueView>('i/-/queues/emails?types=1');
    expect(queue).toMatchObject({ name: 'emails', layout: 'native', can: { types: true, groups: false } });
    expect(queue.types!.map(({ type, counts }) => [type, counts.delayed]).sort()).toEqual([
      ['digest', 1],
      ['welcome', 2],
    ]);
    expect((await get<QueueView>('i/-/queues/reminders')).can.groups).toBe(true);
  });

  test('counts messages by due time', async () => {
    const from = Date.now();
    const range = `from=${new Date(from).toISOString()}&to=${new Date(from + 30 * 86_400_000).toISOString()}`;
    const histogram = await get<HistogramView>(`i/-/queues/orders/histogram?${range}&buckets=30`);
    expect(histogram.counts).toHaveLength(30);
    expect(histogram.before).toBe(0);
    const sum = histogram.counts.reduce((one, other) => one + other) + histogram.after;
    expect(sum).toBe((await app.producer.counts('orders')).delayed);
    expect((await get<HistogramView>(`i/-/queues/nobody/histogram?${range}`)).overdue).toBe(1);
  });

  test('finds messages by every part of a filter', async () => {
    const idsOf = async (queue: string, filter: string) => {
      const { messages } = await get<MessageListView>(`i/-/queues/${queue}/messages?${filter}`);
      return messages.map(({ id }) => id);
    };
    expect(await idsOf('orders', 'state=delayed&idPrefix=order:29&limit=2')).toEqual(['order:29', 'order:290']);
    expect(await idsOf('orders', 'state=delayed&text=customer77%40example.com')).toEqual(['order:77']);
    expect(await idsOf('emails', 'state=delayed&type=welcome')).toEqual(['welcome:ada', 'welcome:bob']);
    expect(await idsOf('emails', 'state=delayed&repeats=true')).toEqual(['digest']);
    expect(await idsOf('reminders', 'state=delayed&group=customer-3')).toHaveLength(3);
    expect(await idsOf('orders', 'state=dead&errorName=TypeError')).toHaveLength(4);
    const [from, to] = [Date.now() + 30 * 60_000, Date.now() + 90 * 60_000].map((at) => new Date(at).toISOString());
    expect(await idsOf('emails', `state=delayed&type=welcome&dueFrom=${from}&dueTo=${to}`)).toEqual(['welcome:ada']);
  });

  test.each([
    'i/-/queues/orders/messages',
    'i/-/queues/orders/messages?state=late',
    'i/-/queues/orders/messages?state=delayed&limit=0',
    'i/-/queues/orders/messages?state=delayed&limit=1001',
    'i/-/queues/orders/messages?state=delayed&dueFrom=yesterday',
    'i/-/queues/orders/messages?state=delayed&errorName=TypeError',
    'i/-/queues/orders/messages?state=delayed&cursor=x',
    'i/-/queues/orders/messages?state=delayed&stat=1',
    'i/-/queues/orders/histogram?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&buckets=401',
    'i/-/queues/orders/histogram',
    'i/-/queues/%20/messages?state=delayed',
    'i/-/queues?limit=1000',
    'i/-/queues/orders/groups',
    'i/-/queues/emails/repeats?cursor=x',
    'i/-/queues/emails/handled?cursor=x',
    'i/-/queues/emails/handled?limit=0',
  ])('refuses %s', async (path) => {
    expect((await board.get(path)).status).toBe(400);
  });

  test('shows a message, bytes included, and says when there is none', async () => {
    expect(await get<MessageView>('i/-/queues/nobody/messages/bytes')).toMatchObject({
      payload: { kind: 'bytes', base64: 'AAEC/v8=', size: 5 },
    });
    const backoff = { type: 'exponential', delay: 600_000, factor: 2, maxDelay: 3_600_000, jitter: 0.2 };
    const retried = { attempts: 3, failedAttempts: 0, backoff };
    expect(await get<MessageView>('i/-/queues/emails/messages/welcome:bob')).toMatchObject(retried);
    const { messages } = await get<MessageListView>('i/-/queues/emails/messages?state=delayed&idPrefix=welcome');
    expect(messages).toMatchObject([{ id: 'welcome:ada' }, retried]);
    expect(messages[0]).not.toHaveProperty('attempts');
    const dead = await get<MessageView>('i/-/queues/orders/messages/order:0');
    expect(dead).toMatchObject({ state: 'dead', error: { name: 'TypeError', stack: expect.stringContaining('at ') } });
    expect((await board.get('i/-/queues/orders/messages/none')).status).toBe(404);
    expect((await board.get('i/none/queues/orders/messages/none')).status).toBe(404);
  });

  test('changes single messages, and says if they had moved on', async () => {
    const at = new Date(Date.now() + 7_200_000).toISOString();
    expect(await change('orders/messages/order:100/reschedule', { due: at })).toEqual({ changed: true });
    expect(await get<MessageView>('i/-/queues/orders/messages/order:100')).toMatchObject({ dueAt: at });
    expect(await change('orders/messages/order:100/change', { headers: { tenant: 'new' } })).toEqual({ changed: true });
    expect(await get<MessageView>('i/-/queues/orders/messages/order:100')).toMatchObject({
      dueAt: at,
      headers: { tenant: 'new' },
    });
    expect(await change('orders/messages/order:101/cancel')).toEqual({ changed: true });
    expect(await change('orders/messages/order:101/cancel')).toEqual({ changed: false });
    expect(await change('orders/messages/order:101/change', { type: 'x' })).toEqual({ changed: false });
    expect(await change('orders/messages/order:102/deliver')).toEqual({ changed: true });
    expect(await change('orders/messages/order:0/discard')).toEqual({ changed: true });
    expect(await change('orders/messages/order:1/redrive')).toEqual({ changed: true });
    const [active] = (await get<MessageListView>('i/-/queues/exports/messages?state=active')).messages;
    expect(await change(`exports/messages/${active!.id}/abort`)).toEqual({ changed: true });
    expect((await board.post('i/-/queues/paused/resume')).status).toBe(200);
    expect((await board.post('i/-/queues/paused/pause')).status).toBe(200);
  });

  test.each([
    ['reschedule', {}],
    ['reschedule', { due: -1 }],
    ['reschedule', { due: 'tomorrow' }],
    ['reschedule', { due: 1, id: 'x' }],
    ['change', {}],
    ['change', { headers: 1 }],
    ['change', []],
  ])('refuses %s with %j', async (action, body) => {
    expect((await board.post(`i/-/queues/orders/messages/order:200/${action}`, body)).status).toBe(400);
  });

  test('checks a changed payload by the schema of its typed queue', async () => {
    const refused = await board.post('i/-/queues/emails/messages/welcome:ada/change', { type: 'unknown', payload: {} });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('welcome, digest') } },
    });
    expect(await change('emails/messages/welcome:ada/change', { payload: { to: 'new@example.com' } })).toEqual({
      changed: true,
    });
  });

  test('counts and changes all that match a filter', async () => {
    const filter = { state: 'delayed', idPrefix: 'order:25' };
    expect(await run('orders', { action: 'count', filter })).toMatchObject({
      state: 'done',
      report: { matched: 11, changed: 0, isComplete: true },
    });
    expect(await run('orders', { action: 'cancel', filter })).toMatchObject({
      state: 'done',
      report: { matched: 11, changed: 11, movedOn: 0, isComplete: true },
    });
    expect(app.log.join('\n')).toContain(
      'cancel all that match {"state":"delayed","idPrefix":"order:25"} in queue orders: 11 changed',
    );
    const due = { action: 'reschedule', filter: { state: 'delayed', idPrefix: 'order:24' }, due: 3_600_000 };
    expect((await run('orders', due)).report).toMatchObject({ matched: 11, changed: 11 });
    const dead = { state: 'dead', error: { name: 'TypeError' } };
    const { matched } = (await run('orders', { action: 'count', filter: dead })).report;
    expect((await run('orders', { action: 'discard', filter: dead })).report).toMatchObject({
      matched,
      changed: matched,
    });
  });

  test('changes messages by id, and counts those that had moved on', async () => {
    const job = await run('orders', { action: 'cancel', ids: ['order:60', 'order:61', 'none', 'order:60'] });
    expect(job).toMatchObject({ state: 'done', report: { matched: 3, changed: 2, movedOn: 1, isComplete: true } });
  });

  test('stops a job, and says how far it came', async () => {
    const queue = scene.newQueue();
    const messages = Array.from({ length: 5000 }, (_, i) => ({ payload: i, delay: '1h' as const }));
    await app.producer.offerMany(queue, messages);
    const { body } = await board.post<JobAnswer>(`i/-/queues/${queue}/jobs`, {
      action: 'cancel',
      filter: { state: 'delayed' },
    });
    const stopped = await board.post<JobAnswer>(`i/-/jobs/${body.job.id}`, undefined, 'DELETE');
    const { state, report } = stopped.body.job;
    const { delayed } = await app.producer.counts(queue);
    expect(state).toBe('stopped');
    expect(report.isComplete).toBe(false);
    expect(report.changed + delayed).toBe(5000);
  });

  test.each([
    [{ action: 'clear', filter: { state: 'delayed' } }],
    [{ action: 'cancel' }],
    [{ action: 'cancel', filter: { state: 'dead' } }],
    [{ action: 'cancel', filter: { state: 'delayed' }, ids: ['a'] }],
    [{ action: 'count', ids: ['a'] }],
    [{ action: 'cancel', ids: [] }],
    [{ action: 'cancel', ids: [1] }],
    [{ action: 'reschedule', ids: ['a'] }],
    [{ action: 'redrive', filter: { state: 'dead', text: '' } }],
    [{ action: 'redrive', filter: { state: 'dead', id: 'x' } }],
  ])('refuses the job %j', async (body) => {
    expect((await board.post('i/-/queues/orders/jobs', body)).status).toBe(400);
  });

  test('groups dead letters by error', async () => {
    const { errors } = await get<ErrorListView>('i/-/queues/orders/errors');
    expect(errors.map(({ name }) => name)).toContain('RejectMessage');
  });

  test('lists groups, and cancels the delayed messages of one', async () => {
    const list = await get<GroupListView>('i/-/queues/reminders/groups?limit=3');
    expect(list).toMatchObject({ total: 7, isComplete: true });
    expect(list.groups).toHaveLength(3);
    expect(await change('reminders/groups/customer-3/cancel')).toEqual({ changed: 3 });
  });

  describe('settings of groups', () => {
    const name = 'a/b?c#d%2F';
    const path = `reminders/groups/${encodeURIComponent(name)}`;
    const shown = async () => {
      const { groups } = await get<GroupListView>('i/-/queues/reminders/groups');
      return groups.find(({ group }) => group === name);
    };

    test('pauses and resumes a group, whether it has messages or not', async () => {
      expect(await shown()).toBeUndefined();
      expect(await change(`${path}/pause`)).toEqual({ ok: true });
      expect(await shown()).toEqual({ group: name, waiting: 0, holding: 0, holders: [], paused: true });
      expect((await get<QueueView>('i/-/queues/reminders')).paused).toBe(false);
      expect(await change(`${path}/resume`)).toEqual({ ok: true });
      expect(await shown()).toBeUndefined();
    });

    test('sets the concurrency of a group', async () => {
      expect(await change(`${path}/concurrency`, { concurrency: 3 })).toEqual({ ok: true });
      expect(await shown()).toMatchObject({ paused: false, concurrency: 3 });
      expect(await change(`${path}/concurrency`, { concurrency: 'unlimited' })).toEqual({ ok: true });
      expect(await shown()).toMatchObject({ concurrency: 'unlimited' });
      expect(await change(`${path}/concurrency`, { concurrency: 'default' })).toEqual({ ok: true });
      expect(await shown()).toBeUndefined();
    });

    test.each([
      {},
      [],
      { concurrency: 0 },
      { concurrency: 1.5 },
      { concurrency: 1_000_001 },
      { concurrency: '3' },
      { concurrency: null },
      { concurrency: 3, paused: true },
    ])('are not changed by %j', async (body) => {
      const answer = await board.post(`i/-/queues/${path}/concurrency`, body);
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'BAD_REQUEST' } } });
      expect(await shown()).toBeUndefined();
    });

    test.each(['emails/groups/a/pause', 'emails/groups/a/concurrency', 'reminders/groups/%0A/resume'])(
      'are refused for %s',
      async (refused) => {
        expect((await board.post(`i/-/queues/${refused}`)).status).toBe(400);
      },
    );
  });

  test('shows limits, sets them and resets them', async () => {
    expect(await get<LimitsView>('i/-/queues/orders/limits')).toEqual({ limits: null });
    const rate = { max: 100, per: 1000 };
    const set = await change('orders/limits', { globalConcurrency: 5, rate });
    expect(set).toEqual({
      limits: { globalConcurrency: 5, rate, setBy: expect.any(String), setAt: expect.any(String) },
    });
    expect(await get<LimitsView>('i/-/queues/orders/limits')).toEqual(set);
    expect((await board.post('i/-/queues/orders/limits', { globalConcurrency: 0 })).status).toBe(400);
    expect((await board.post('i/-/queues/orders/limits', { concurrency: 5 })).status).toBe(400);
    expect(await change('orders/limits/reset')).toEqual({ limits: null });
  });

  test('lists repeating messages with their next times', async () => {
    const { repeats } = await get<RepeatListView>('i/-/queues/emails/repeats');
    expect(repeats).toMatchObject([
      { id: 'digest', type: 'digest', rule: { timeZone: 'Europe/Berlin' }, state: 'delayed' },
    ]);
    expect(repeats[0]!.next).toHaveLength(5);
    expect(repeats[0]!.next[0]).toBe(repeats[0]!.dueAt);
  });

  test('pauses, resumes, runs and ends a repetition', async () => {
    await app.producer.repeat('emails', 'hourly', { every: '1h', missed: 'each', limit: 9 }, {});
    const path = 'emails/repeats/hourly';
    const shown = async () => {
      const { repeats } = await get<RepeatListView>('i/-/queues/emails/repeats');
      return repeats.find(({ id }) => id === 'hourly');
    };
    expect(await shown()).toMatchObject({ rule: { every: 3_600_000, missed: 'each', limit: 9, count: 0 } });
    expect((await shown())!.next).toHaveLength(5);
    expect(await change(`${path}/pause`)).toEqual({ changed: true });
    expect(await shown()).toMatchObject({ rule: { isPaused: true }, next: [] });
    expect(await change(`${path}/resume`)).toEqual({ changed: true });
    expect((await shown())!.rule.isPaused).toBeUndefined();
    expect(await change(`${path}/run`)).toEqual({ id: expect.stringMatching(/^\{hourly\}\+/) });
    expect(await change(`${path}/end`)).toEqual({ changed: true });
    expect(await shown()).toBeUndefined();
    for (const action of ['pause', 'resume', 'end'])
      expect(await change(`${path}/${action}`)).toEqual({ changed: false });
    expect(await change(`${path}/run`)).toEqual({ id: null });
  });

  test('lists handled messages, newest first, and shows one of them', async () => {
    await until(async () => (await get<HandledListView>('i/-/queues/emails/handled')).messages.length === 1);
    const [row] = (await get<HandledListView>('i/-/queues/emails/handled')).messages;
    expect(row).toMatchObject({
      ...{ id: 'welcome:eve', type: 'welcome', attempt: 1, attempts: 4, preview: '{"to":"eve@example.com"}' },
      worker: { pid: process.pid },
    });
    const shown = await get<HandledView>('i/-/queues/emails/handled/welcome:eve');
    const { preview: _, ...fields } = row!;
    const payload = { kind: 'json', value: { to: 'eve@example.com' } };
    expect(shown).toEqual({ ...fields, payload, headers: { tenant: 'acme' } });

    const first = await get<HandledListView>('i/-/queues/orders/handled?limit=3');
    const rest = await get<HandledListView>(`i/-/queues/orders/handled?cursor=${encodeURIComponent(first.cursor!)}`);
    const ids = [...first.messages, ...rest.messages].map(({ id }) => id);
    expect(ids.sort()).toEqual(['order:11', 'order:2', 'order:5', 'order:8']);
    const without = await get<HandledView>('i/-/queues/orders/handled/order:8');
    for (const field of ['payload', 'headers', 'preview']) expect(without).not.toHaveProperty(field);
    expect((await board.get('i/-/queues/orders/handled/order:40')).status).toBe(404);
    expect((await board.get('i/-/queues/orders/handled/nobody-knows')).status).toBe(404);
  });

  test('lists the processes that handle queues', async () => {
    const { workers } = await get<WorkerListView>('i/-/workers');
    expect(workers).toMatchObject([
      { pid: process.pid, queues: expect.arrayContaining([expect.objectContaining({ queue: 'orders' })]) },
    ]);
  });

  test('sends the rows of queues as they change', async () => {
    const queue = scene.newQueue();
    const stream = await board.events(`i/-/events?queues=${queue},orders`);
    await until(() => stream.events.length > 0);
    expect(stream.events[0]).toMatchObject({ event: 'rows', data: [{ name: queue, delayed: 0 }, { name: 'orders' }] });
    await app.producer.offer(queue, {}, '1h');
    const last = () => stream.events.flatMap(({ data }) => data as QueueRow[]).findLast(({ name }) => name === queue);
    await until(() => last()?.delayed === 1);
    stream.close();
    const none = await board.events('i/-/events?queues=');
    expect(none.response.statusCode).toBe(400);
  });

  test('has compared every operation of its description', async () => {
    await board.get('config');
    expect([...board.compared].sort()).toEqual((await board.described()).sort());
  });
});
