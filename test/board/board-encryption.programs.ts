import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DelayQueueModule } from 'nestjs-delay-queue';
import type { HandledListView, HandledView, JobAnswer, MessageListView, MessageView } from 'nestjs-delay-queue-board';
import { encryption } from 'nestjs-delay-queue/encryption';
import { DescribedClient } from '../support/board/described-client.js';
import { type PageApplication, startPageApplication } from '../support/board/page-application.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

const SECRET = '4111111111111111';
const KEYS = encryption({ current: 'k1', keys: { k1: Buffer.alloc(32, 7) } });

describe('the board, of an encrypted queue', () => {
  const scene = new Scene();
  const queue = scene.newQueue();
  const start = (options: object) => {
    const common = { connection: scene.url, prefix: scene.prefix, consume: false };
    return startPageApplication({ parts: { imports: [DelayQueueModule.forRoot({ ...common, ...options })] } });
  };
  const path = `i/-/queues/${queue}/messages`;
  let blind: PageApplication;
  let sighted: PageApplication;

  beforeAll(async () => {
    [blind, sighted] = await Promise.all([start({}), start({ defaults: { encryption: KEYS } })]);
    await sighted.producer.offer(queue, { card: SECRET }, '1h', { id: 'a', type: 'charge', headers: { h: '1' } });
  });
  afterAll(() => Promise.all([blind?.close(), sighted?.close()]));

  const boardOf = (app: PageApplication) => new DescribedClient(app.board.url);
  const get = async <Body>(app: PageApplication, what: string) => (await boardOf(app).get<Body>(what)).body;

  test('shows that a payload is encrypted, and with which key', async () => {
    const message = await get<MessageView>(blind, `${path}/a`);
    expect(message).toMatchObject({ type: 'charge', headers: {} });
    expect(message.payload).toEqual({
      kind: 'encrypted',
      key: expect.stringMatching(/^k1:/),
      size: expect.any(Number),
    });
    const { messages } = await get<MessageListView>(blind, `${path}?state=delayed&type=charge`);
    expect(messages).toMatchObject([{ id: 'a', preview: 'encrypted' }]);
  });

  test('shows that a handled message is encrypted', async () => {
    const handled = scene.newQueue();
    const queues = { [handled]: { history: { for: '1h', payloads: true }, encryption: KEYS } } as const;
    await scene.startApp({ module: { queues }, providers: [handlerOf(handled, () => undefined)] });
    await sighted.producer.offer(handled, { card: SECRET }, 0, { id: 'a', headers: { h: '1' } });
    await until(async () => (await sighted.producer.list(handled, 'handled')).messages.length === 1);
    const path = `i/-/queues/${handled}/handled`;
    expect((await get<HandledListView>(blind, path)).messages).toMatchObject([{ id: 'a', preview: 'encrypted' }]);
    expect(await get<HandledView>(blind, `${path}/a`)).toMatchObject({ payload: { kind: 'encrypted' }, headers: {} });
    const seen = { payload: { kind: 'json', value: { card: SECRET } }, headers: { h: '1' } };
    expect(await get<HandledView>(sighted, `${path}/a`)).toMatchObject(seen);
  });

  test('says that it cannot search for a text', async () => {
    const list = await get<MessageListView>(blind, `${path}?state=delayed&text=${SECRET}`);
    expect(list).toMatchObject({ messages: [], examined: 1, encrypted: 1 });
    const body = { action: 'count', filter: { state: 'delayed', text: SECRET } };
    let { job } = (await boardOf(blind).post<JobAnswer>(`i/-/queues/${queue}/jobs`, body)).body;
    await until(async () => (job = (await get<JobAnswer>(blind, `i/-/jobs/${job.id}`)).job).state !== 'running');
    expect(job.report).toMatchObject({ matched: 0, encrypted: 1 });
  });

  test('refuses to change what it cannot read, and does the rest', async () => {
    const board = boardOf(blind);
    const refused = await board.post(`${path}/a/change`, { payload: 1 });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('which this process does not have');
    expect((await board.post(`${path}/a/reschedule`, { due: 7_200_000 })).body).toEqual({ changed: true });
  });

  test('shows, finds and changes everything with the keys', async () => {
    const found = await get<MessageView>(sighted, `${path}/a`);
    expect(found).toMatchObject({ headers: { h: '1' }, payload: { kind: 'json', value: { card: SECRET } } });
    const list = await get<MessageListView>(sighted, `${path}?state=delayed&text=${SECRET}`);
    expect(list.messages).toHaveLength(1);
    expect(list).not.toHaveProperty('encrypted');
    await boardOf(sighted).post(`${path}/a/change`, { payload: { card: 'none' } });
    expect((await sighted.producer.find(queue, 'a'))!.payload).toEqual({ card: 'none' });
    expect((await get<MessageView>(blind, `${path}/a`)).payload.kind).toBe('encrypted');
  });
});
