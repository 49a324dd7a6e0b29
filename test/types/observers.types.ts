import {
  DelayQueue,
  type DelayQueueEvent,
  type DelayQueueObserver,
  OnDelayQueueEvent,
  payload,
} from '../../lib/index.js';

class Orders extends DelayQueue('orders', payload<{ orderId: string }>()) {}

export class Listeners {
  @OnDelayQueueEvent('dead', Orders)
  @OnDelayQueueEvent('dead', 'tenant-*')
  a({ by, failure }: DelayQueueEvent<'dead'>): void {
    void [by, failure.message];
  }

  @OnDelayQueueEvent('handled')
  b(): void {}

  @OnDelayQueueEvent('connection-lost')
  c(event: DelayQueueEvent): void {
    if (event.name === 'connection-lost') void event.reason;
    // @ts-expect-error it is an event of any name here
    void event.reason;
  }

  // @ts-expect-error there is no such event
  @OnDelayQueueEvent('died')
  d(): void {}

  // @ts-expect-error only the log is told
  @OnDelayQueueEvent('memory-store')
  g(): void {}

  // @ts-expect-error it is the event of another name
  @OnDelayQueueEvent('handled')
  e(event: DelayQueueEvent<'dead'>): void {
    void event;
  }

  // @ts-expect-error no class of a typed queue
  @OnDelayQueueEvent('handled', Listeners)
  f(): void {}
}

export const observer: DelayQueueObserver = {
  // @ts-expect-error a header is text
  offer: (_offers, next) => next({ trace: 7 }),
  handle: async (message, next) => {
    const outcome = await next();
    if (outcome.kind === 'retry') void [message.lateness, outcome.error, outcome.delay];
    // @ts-expect-error an acknowledged message does not come again
    if (outcome.kind === 'ack') void outcome.delay;
  },
};
