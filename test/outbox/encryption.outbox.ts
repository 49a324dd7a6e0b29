import { describe, expect, it } from '@jest/globals';
import { encryption } from '../../lib/encryption/index.js';
import { EncryptedPayload } from '../../lib/index.js';
import { startPostgresql } from '../support/databases/start-postgresql.js';
import { until } from '../support/until.js';
import { relayed } from './outbox.rules.js';
import { OutboxScene } from './outbox-scene.js';

const SECRET = '4111111111111111';
const KEYS = { k1: Buffer.alloc(32, 1), k2: Buffer.alloc(32, 2) };
const WITH_KEYS = { defaults: { encryption: encryption({ current: 'k1', keys: { k1: KEYS.k1 } }) } };

describe('the outbox of an encrypted queue', () => {
  const scene = new OutboxScene('pg', async () => {
    const { server, url } = await startPostgresql({ fsync: 'off' });
    return { url, stop: () => server.stop() };
  });
  const rows = async () => {
    const { rows: found } = (await scene.library.execute(
      `SELECT operation, body FROM ${await scene.table()} ORDER BY seq`,
    )) as { rows: { operation: string; body: string }[] };
    return found.filter(({ operation }) => /offer|reschedule|change|cancel/.test(operation));
  };
  const writer = () => scene.startApp({ module: WITH_KEYS, outbox: { relay: false } });

  it('has rows with neither payloads nor headers, which a relay without keys hands over as they are', async () => {
    const queue = scene.newQueue();
    const { outbox } = await writer();
    await scene.transact(async (transaction) => {
      const options = { id: 'a', type: 'charge', headers: { tenant: SECRET }, expiresAfter: '1d' } as const;
      await outbox.offer(transaction, queue, { card: SECRET }, '1h', options);
      await outbox.offer(transaction, queue, Buffer.from(SECRET), '1h', { id: 'bytes' });
    });
    const written = await rows();
    expect(written.map(({ operation }) => operation)).toEqual(['offer-encrypted', 'offer-encrypted']);
    for (const { body } of written) {
      for (const text of [SECRET, Buffer.from(SECRET).toString('base64')]) expect(body).not.toContain(text);
    }
    const relay = await scene.startApp({ outbox: { pollInterval: 50 } });
    await relayed(relay);
    expect((await relay.producer.find(queue, 'a'))!.payload).toBeInstanceOf(EncryptedPayload);
    const { producer } = await scene.startApp({ module: WITH_KEYS, outbox: { relay: false } });
    expect(await producer.find(queue, 'a')).toMatchObject({
      payload: { card: SECRET },
      headers: { tenant: SECRET },
      type: 'charge',
      expiresAt: expect.any(Date),
    });
    expect(await producer.find(queue, 'bytes')).toMatchObject({ payload: Buffer.from(SECRET) });
  });

  it('changes a message by a relay with the keys; one without leaves the row to be tried again', async () => {
    const queue = scene.newQueue();
    const { outbox, producer } = await writer();
    await producer.offer(queue, { card: 'old' }, '1h', { id: 'a', headers: { h: '1' } });
    await scene.transact(async (transaction) => {
      await outbox.reschedule(transaction, queue, 'a', '2h', { payload: { card: SECRET } });
      await outbox.reschedule(transaction, queue, 'a', '3h');
    });
    const written = await rows();
    expect(written.map(({ operation }) => operation)).toEqual(['change-encrypted', 'reschedule']);
    expect(written[0]!.body).not.toContain(SECRET);
    const blind = await scene.startApp({ outbox: { pollInterval: 50 } });
    await until(async () => (await blind.outbox.failed()).length === 1);
    const failed = await blind.outbox.failed();
    expect(failed).toMatchObject([
      { id: 'a', operation: 'reschedule', payload: undefined, error: expect.stringContaining('encryption') },
    ]);
    await blind.close();
    const sighted = await scene.startApp({ module: WITH_KEYS, outbox: { pollInterval: 50 } });
    await sighted.outbox.retryFailed(failed);
    await relayed(sighted);
    expect(await producer.find(queue, 'a')).toMatchObject({ payload: { card: SECRET }, headers: { h: '1' } });
  });

  it('shows the payload of a failed row as encrypted, and cancels as ever', async () => {
    const queue = scene.newQueue();
    const { outbox, producer } = await writer();
    await scene.transact((transaction) => outbox.offer(transaction, queue, SECRET.repeat(100), '1h', { id: 'large' }));
    const relay = await scene.startApp({
      module: { defaults: { maxPayloadBytes: 100 } },
      outbox: { pollInterval: 50 },
    });
    await until(async () => (await relay.outbox.failed()).length === 1);
    const [failed] = await relay.outbox.failed();
    expect(failed).toMatchObject({ operation: 'offer', error: expect.stringContaining('PAYLOAD_TOO_LARGE') });
    expect(failed!.payload).toBeInstanceOf(EncryptedPayload);
    await relay.outbox.discardFailed([failed!]);
    await producer.offer(queue, 1, '1h', { id: 'c' });
    await scene.transact((transaction) => outbox.cancel(transaction, queue, 'c'));
    await relayed(relay);
    expect(await producer.find(queue, 'c')).toBeNull();
  });
});
