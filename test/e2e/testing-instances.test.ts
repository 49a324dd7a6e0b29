import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  DelayedHandler,
  DelayQueue,
  DelayQueueModule,
  DelayQueueProducer,
  InjectDelayQueueProducer,
  payload,
} from '../../lib/index.js';
import { type DelayQueueTester, DelayQueueTestingModule } from '../../lib/testing/index.js';
import { appModule, NOWHERE, TestedApps, type TestedApp } from '../support/tested-app.js';

class Invoices extends DelayQueue('invoices', payload<{ of: string }>(), { instance: 'billing', attempts: 1 }) {}

const log: string[] = [];
afterEach(() => void log.splice(0));

@Injectable()
class Shop {
  @InjectDelayQueueProducer('billing') readonly billing!: DelayQueueProducer;

  constructor(
    readonly producer: DelayQueueProducer,
    readonly invoices: Invoices,
  ) {}

  @DelayedHandler('orders')
  async order(of: string): Promise<void> {
    log.push(`order ${of}`);
    await this.invoices.offer({ of }, '10m');
  }

  @DelayedHandler('orders', { instance: 'billing' })
  orderOfBilling(of: string): void {
    log.push(`order of billing ${of}`);
  }

  @DelayedHandler(Invoices)
  invoice({ of }: { of: string }): void {
    log.push(`invoice ${of}`);
    if (of === 'nobody') throw new Error('no address');
  }
}

describe('the tester of an application with two instances', () => {
  const apps = new TestedApps();
  let app: TestedApp;
  let billing: DelayQueueTester;
  let shop: Shop;

  beforeEach(async () => {
    app = await apps.start(
      appModule({
        imports: [DelayQueueModule.forRoot({ name: 'billing', connection: NOWHERE })],
        providers: [Shop, Invoices],
      }),
      DelayQueueTestingModule,
    );
    billing = app.tester.instance('billing');
    shop = app.module.get(Shop);
  });

  test('moves time for all instances together and handles messages in order of due time', async () => {
    await shop.producer.offer('orders', 'a', '30m');
    await shop.billing.offer('orders', 'b', '20m');
    await shop.producer.offer('orders', 'c', '35m');
    await app.tester.advance('42m');
    expect(log).toEqual(['order of billing b', 'order a', 'order c', 'invoice a']);
    expect(billing.now()).toEqual(app.tester.now());
    await billing.drain();
    expect(log.at(-1)).toBe('invoice c');
  });

  test('lists what was offered in each instance', async () => {
    await shop.producer.offer('orders', 'a', '30m');
    await shop.billing.offer('orders', 'b', '20m');
    await shop.invoices.offer({ of: 'c' }, '1h');
    expect(app.tester.offered().map((offer) => offer.payload)).toEqual(['a']);
    expect(billing.offered('orders').map((offer) => offer.payload)).toEqual(['b']);
    expect(billing.offered()).toHaveLength(2);
    // A class names its instance.
    expect(app.tester.offered(Invoices).map((offer) => offer.payload.of)).toEqual(['c']);
  });

  test('calls the handlers of each instance', async () => {
    await app.tester.handle('orders', 'a');
    await billing.handle('orders', 'b');
    expect(await app.tester.handle(Invoices, { of: 'nobody' })).toMatchObject({ kind: 'dead' });
    expect(log).toEqual(['order a', 'order of billing b', 'invoice nobody']);
    await expect(app.tester.handle('invoices', { of: 'a' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('clears only the chosen instance', async () => {
    await shop.producer.offer('orders', 'a', '30m');
    await shop.billing.offer('orders', 'b', '20m');
    await billing.clear();
    expect(billing.offered()).toEqual([]);
    await app.tester.drain();
    expect(log).toEqual(['order a', 'invoice a']);
  });

  test('names the known instances when asked for an unknown one', () => {
    const message = expect.stringContaining("{ name: 'other' }), only the one without a name, 'billing'");
    expect(() => app.tester.instance('other')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION', message }));
  });
});
