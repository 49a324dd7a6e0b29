import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../lib/timing/clock.js';
import { resolveModuleOptions } from '../../lib/options/resolve-options.js';
import { HandlerRegistry } from '../../lib/handler/handler-registry.js';
import { Queues } from '../../lib/runtime/queues.js';
import { RecentlyUsed } from '../../lib/runtime/recently-used.js';
import { createStores } from '../../lib/runtime/create-stores.js';
import { LoggedEvents } from '../support/logged-events.js';

const numbered = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

function newQueues(store: 'redis' | 'memory'): Queues {
  const queues = { configured: { attempts: 2 }, both: { attempts: 2 } };
  const options = resolveModuleOptions({ store, queues });
  const handlers = new HandlerRegistry();
  const handler = { name: 'Test.handle', type: '', options: {}, call: () => undefined };
  for (const name of ['handled', 'both']) handlers.add(name, handler, { attempts: 3 });
  return new Queues(options, createStores(options, { clock: systemClock, events: new LoggedEvents() }), handlers);
}

describe('the queues of a process', () => {
  it('are kept if they are handled or configured, or among the last 1000 used', () => {
    const queues = newQueues('redis');
    const names = ['handled', 'configured', ...numbered(3000, 'other-')];
    const before = new Map(names.map((name) => [name, queues.get(name)]));
    queues.get('other-2000');
    // The kept ones come first, because looking up the others creates them again.
    const kept = names.filter(
      (name, i) => (i < 2 || i >= names.length - 1000) && queues.get(name) === before.get(name),
    );
    expect(kept).toHaveLength(1002);
    expect(names.slice(2, 2000).filter((name) => queues.get(name) === before.get(name))).toEqual([]);
  });

  it('prefer options from the configuration to those of their handler, and both to the defaults', () => {
    const queues = newQueues('redis');
    const attempts = ['handled', 'configured', 'both', 'other'].map((name) => queues.get(name).options.attempts);
    expect(attempts).toEqual([3, 2, 2, 5]);
  });

  it('are kept while offers to them are pending, however many other queues are used', () => {
    const queues = newQueues('redis');
    const pending = numbered(1500, 'pending-').map((name) => {
      const queue = queues.get(name);
      queue.pendingOffers = 1;
      return queue;
    });
    const kept = () => pending.filter((queue) => queues.get(queue.name) === queue).length;
    for (const name of numbered(3000, 'other-')) queues.get(name);
    expect(kept()).toBe(1500);
    for (const queue of pending) queue.pendingOffers = 0;
    for (const name of numbered(5000, 'another-')) queues.get(name);
    expect(kept()).toBe(0);
  });

  it('do not lose messages in memory, however many queues there are', async () => {
    const queues = newQueues('memory');
    await queues
      .get('first')
      .router.stores[0]!.offer([{ id: 'm', due: { after: 1000 }, onDuplicate: 'keep', body: 'J1' }]);
    for (const name of numbered(2000, 'other-')) queues.get(name);
    expect((await queues.get('first').store.status()).counts.delayed).toBe(1);
  });
});

describe('RecentlyUsed', () => {
  it('keeps only the most recently used entries, even after a million names', () => {
    let made = 0;
    const recent = new RecentlyUsed<number>(10, () => made++);
    const often = recent.get('often');
    const [first] = numbered(1_000_000, '').map((name) => (recent.get('often'), recent.get(name)));
    expect(recent.size).toBe(10);
    const before = made;
    expect(recent.get('often')).toBe(often);
    recent.get('999995');
    expect(made).toBe(before);
    expect(recent.get('0')).not.toBe(first);
    expect(made).toBe(before + 1);
  });
});
