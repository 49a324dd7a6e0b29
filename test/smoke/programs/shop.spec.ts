// The shop's own tests, for jest and vitest.
import { Test, type TestingModule } from '@nestjs/testing';
import * as assert from 'node:assert/strict';
import { DelayQueueTester, DelayQueueTestingModule } from 'nestjs-delay-queue/testing';
import { Clerk, Emails, Orders, Shop, ShopModule } from './shop.js';

/** The globals of jest or vitest. */
declare const beforeEach: (run: () => Promise<void>) => void;
declare const afterEach: (run: () => Promise<void>) => void;
declare const it: (name: string, run: () => Promise<void>) => void;

let app: TestingModule;
let queue: DelayQueueTester;

beforeEach(async () => {
  app = await Test.createTestingModule({ imports: [ShopModule, DelayQueueTestingModule] }).compile();
  await app.init();
  queue = app.get(DelayQueueTester);
});

afterEach(() => app.close());

it('offers the cancellation and the email of an order', async () => {
  await app.get(Shop).place('o-1', 'ada@shop.example');
  const orders = queue.offered(Orders).map(({ type, payload, delay }) => [type, payload, delay]);
  assert.deepEqual(orders, [['cancel-unpaid', { orderId: 'o-1' }, 1_800_000]]);
  const emails = queue.offered(Emails).map(({ payload, delay }) => [payload.to, delay]);
  assert.deepEqual(emails, [['ada@shop.example', 3_600_000]]);
});

it('cancels an order that is not paid within half an hour', async () => {
  await app.get(Shop).place('o-1', 'ada@shop.example');
  await queue.advance('29m');
  assert.deepEqual(app.get(Clerk).done, []);
  await queue.advance('1m');
  assert.deepEqual(app.get(Clerk).done, ['cancel-unpaid o-1']);
});

it('collects a payment at the third attempt and then performs the remaining steps', async () => {
  await app.get(Shop).place('o-1', 'ada@shop.example');
  await app.get(Shop).pay('o-1', 7);
  await queue.drain();
  assert.deepEqual(app.get(Clerk).done, ['pay o-1', 'email ada@shop.example', 'note o-1 is paid']);
  assert.deepEqual(await app.get(Orders).counts(), { delayed: 0, ready: 0, active: 0, dead: 0 });
});

it('retries a failed payment unless its amount is zero', async () => {
  const outcomes = [
    await queue.handle(Orders, 'pay', { orderId: 'o-1', amount: 7 }),
    await queue.handle(Orders, 'pay', { orderId: 'o-1', amount: 7 }, { attempt: 3 }),
    await queue.handle(Orders, 'pay', { orderId: 'o-1', amount: 0 }),
    await queue.handle(Emails, { to: 'ada@shop.example' }),
  ];
  const kinds = outcomes.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['retry', 'ack', 'dead', 'ack']);
});

it('refuses an email without a recipient', async () => {
  await assert.rejects(app.get(Shop).place('o-1', 'Ada'), { code: 'INVALID_PAYLOAD' });
  assert.deepEqual(queue.offered(Emails), []);
});
