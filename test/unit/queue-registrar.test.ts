import { describe, expect, it } from '@jest/globals';
import { HandlerRegistry } from '../../lib/handler/handler-registry.js';
import { MisspeltNames } from '../../lib/runtime/misspelt-names.js';
import { QueueRegistrar } from '../../lib/runtime/queue-registrar.js';
import { MemoryQueueDirectory } from '../../lib/store/memory/memory-stores.js';
import { REGISTRATION_VALID } from '../../lib/store/queue-directory.js';
import { LoggedEvents } from '../support/logged-events.js';
import { ManualClock } from '../support/manual-clock.js';

class NotingDirectory extends MemoryQueueDirectory {
  readonly calls: string[] = [];
  failure: Error | undefined;

  override async register(queue: string): Promise<void> {
    this.calls.push(queue);
    if (this.failure) throw this.failure;
    await super.register(queue);
  }
}

function newRegistrar(offerTimeout = 5000) {
  const [directory, clock, events] = [new NotingDirectory(), new ManualClock(), new LoggedEvents()];
  const names = new MisspeltNames({ directory }, { queues: {}, defaults: {} }, new HandlerRegistry(), events);
  const registrar = new QueueRegistrar({ directory }, { offerTimeout }, clock, events, names);
  return { directory, clock, events, registrar };
}

describe('a registration', () => {
  it('is made before anything else that its caller sends, and all callers await it', async () => {
    const { registrar, directory } = newRegistrar();
    const first = registrar.register('a');
    expect(directory.calls).toEqual(['a']);
    expect(registrar.register('a')).toBe(first);
    await first;
    expect(registrar.register('a')).toBeUndefined();
    expect(directory.calls).toEqual(['a']);
  });

  it('is renewed early enough for every offer that relies on it to take effect before it expires', async () => {
    const offerTimeout = 20_000;
    const { registrar, directory, clock } = newRegistrar(offerTimeout);
    await registrar.register('a');
    for (; directory.calls.length === 1; void registrar.register('a')) await clock.advance(1000);
    expect(clock.monotonic()).toBeGreaterThan(REGISTRATION_VALID / 2);
    expect(clock.monotonic() + offerTimeout).toBeLessThanOrEqual(REGISTRATION_VALID);
  });

  it('is made for every offer if offers may take longer than a registration is valid', async () => {
    const { registrar, directory } = newRegistrar(600_000);
    await registrar.register('a');
    await registrar.register('a');
    expect(directory.calls).toHaveLength(2);
  });

  it('is retried after a failure only once the application has started', async () => {
    const { registrar, directory, clock } = newRegistrar();
    directory.failure = new Error('no');
    await registrar.register('a');
    await clock.advance(60_000);
    expect(directory.calls).toEqual(['a']);
    registrar.started([]);
    expect(directory.calls).toEqual(['a', 'a']);
  });

  it('is retried until it succeeds, without an error for the offer and with a single line in the log', async () => {
    const { registrar, directory, clock, events } = newRegistrar();
    registrar.started([]);
    directory.failure = new Error('no');
    await registrar.register('a');
    await clock.advance(30_000);
    directory.failure = undefined;
    await clock.advance(5000);
    expect(await directory.list({ after: '', limit: 9 })).toEqual(['a']);
    expect(directory.calls.length).toBeLessThan(20);
    expect(clock.pendingTimers).toBe(0);
    expect(events.lines.filter((line) => line.includes('egistered'))).toMatchObject([
      expect.stringMatching(/^warn Queues cannot be registered/),
      'log Queues are registered again',
    ]);
  });

  it('is retried at once after its first failure', async () => {
    // Until it succeeds, other processes may not find the queue's messages.
    const { registrar, directory, clock } = newRegistrar();
    registrar.started([]);
    directory.failure = new Error('no');
    await registrar.register('a');
    directory.failure = undefined;
    await clock.advance(100);
    expect(await directory.list({ after: '', limit: 9 })).toEqual(['a']);
  });

  it('is neither retried nor logged if it fails after the application has stopped', async () => {
    const { registrar, directory, clock, events } = newRegistrar();
    registrar.started([]);
    directory.failure = new Error('no');
    const registered = registrar.register('a');
    registrar.onModuleDestroy();
    await registered;
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
    expect(events.lines).toEqual([]);
  });

  it('is remembered for the ten thousand most recent queues', async () => {
    const { registrar, directory } = newRegistrar();
    for (let i = 0; i < 10_001; i++) void registrar.register(`q${i}`);
    await new Promise((resolve) => setImmediate(resolve));
    expect(registrar.register('q1')).toBeUndefined();
    expect(registrar.register('q0')).toBeDefined();
    expect(directory.calls).toHaveLength(10_002);
  });
});
