import type { Redis } from 'ioredis';
import type { Outcome } from '../../../lib/store/consumer-store.js';
import type { Offer } from '../../../lib/store/producer-store.js';
import type { MessageStore, StoreLimits } from '../../../lib/store/message-store.js';
import type { NativeKeys } from '../../../lib/store/native/native-keys.js';
import { randomName } from '../../support/random-name.js';
import { until } from '../../support/until.js';

/** Low enough for the exercise to reach each of them. */
export const EXERCISE_LIMITS: StoreLimits = {
  attempts: 2,
  maxDeadLetters: 2,
  maxMessages: 10_000,
  rate: { max: 10_000, per: 3_600_000 },
  history: { for: 3_600_000, max: 1, payloads: true },
};

const HOUR = 3_600_000;
const RETRY: Outcome = { kind: 'retry', delay: 0 };
const PUT_OFF: Outcome = { kind: 'retry', delay: HOUR };
const DEAD: Outcome = { kind: 'dead', error: '{}' };

/** Ways in which somebody else changes the keys of a queue. */
export interface Damage {
  /** Writes the record of a message that is in no state. */
  lose(id: string, record: Buffer): Promise<unknown>;
  /** Deletes the record of a message. */
  forget(id: string): Promise<unknown>;
  /** Deletes the leases of all claims. */
  forgetLeases(): Promise<unknown>;
}

export const damageIn = (redis: Redis, keys: Pick<NativeKeys, 'messages' | 'leases'>): Damage => ({
  lose: (id, record) => redis.hset(keys.messages, id, record),
  forget: (id) => redis.hdel(keys.messages, id),
  forgetLeases: () => redis.del(keys.leases),
});

const nothing = () => Promise.resolve();
const NO_DAMAGE: Damage = { lose: nothing, forget: nothing, forgetLeases: nothing };

/** Runs everything that a store can do, with messages in all states, so that its scripts take every path. */
export class StoreExercise {
  #tokens = 0;

  constructor(
    private readonly store: MessageStore,
    private readonly damage: Damage = NO_DAMAGE,
  ) {}

  async run(): Promise<void> {
    await this.#changeMessages();
    await this.#claimInAllWays();
    await this.#endInAllWays();
    await this.#loseLeases();
    await this.#lookAfterDeadLetters();
    await this.#releaseInAllWays();
    await this.#repairInAllWays();
    await this.store.pause();
    await this.offer('ready', { at: 0 });
    await this.transfer();
    await this.store.resume();
    await this.#remember();
    await this.store.clear();
  }

  /** Remembers more messages than the history may have. */
  async #remember(): Promise<void> {
    const { store } = this;
    if (!store.remember) return;
    await this.take(['kept']);
    const { dueAt, offeredAt } = (await store.find('kept'))!;
    const entry = { dueAt, offeredAt, lateness: 0, took: 0, attempt: 1, worker: { id: '', host: '', pid: 0 } };
    await store.remember(['kept', 'gone'].map((id) => ({ id, keptAs: id, entry })));
    await store.list({ state: 'handled', limit: 1 });
    await store.findHandled!('kept');
  }

  async offer(id: string, due: Offer['due'], onDuplicate: Offer['onDuplicate'] = 'replace'): Promise<void> {
    await this.store.offer([{ id, due, onDuplicate, body: `body of ${id}` }]);
  }

  transfer(limit = 1000) {
    return this.store.transfer({ limit });
  }

  /** Claims new messages together; nothing else may be ready. */
  async take(ids: readonly string[], lease = HOUR): Promise<string> {
    for (const id of ids) await this.offer(id, { at: 0 });
    await this.transfer();
    const token = `token-${this.#tokens++}`;
    await this.store.claim({ token, limit: ids.length, lease });
    return token;
  }

  /** Claims new messages together and settles them. */
  async end(ids: readonly string[], outcome: Outcome): Promise<void> {
    const token = await this.take(ids);
    await this.store.settle(ids.map((id) => ({ claim: { id, token }, outcome })));
  }

  /** Makes a new message ready again after a failed attempt. */
  async makeReadyAgain(id: string): Promise<void> {
    await this.end([id], RETRY);
    await until(async () => (await this.transfer()).moved > 0);
  }

  async #changeMessages(): Promise<void> {
    const { store } = this;
    await this.offer('new', { after: HOUR });
    await this.end(['put off'], PUT_OFF);
    await this.end(['dead'], DEAD);
    await this.take(['active']);
    await this.take(['active with another', 'the other']);
    await this.makeReadyAgain('ready again');
    await this.offer('ready', { at: 0 });
    await this.transfer();
    await store.status();
    for (const cursor of ['', 'delayed:0:none', 'ready:0:none']) await store.countTypes(cursor);
    await store.countDue([0, 1]);
    await this.#listInAllWays();
    for (const id of ['new', 'put off', 'dead', 'active', 'active with another', 'ready again', 'ready', 'none']) {
      await store.find(id);
      await store.reschedule(id, { after: HOUR });
      for (const onDuplicate of ['reject', 'keep', 'replace'] as const)
        await this.offer(id, { after: HOUR }, onDuplicate);
      await store.reschedule(id, { at: 0 });
      await store.cancel(id);
    }
    await this.end(['put off'], PUT_OFF);
    await store.reschedule('put off', { at: 0 });
    await store.cancel('put off');
    await this.#changeInAllWays();
    await this.take(['aborted', 'its neighbour']);
    for (const id of ['aborted', 'its neighbour', 'none']) await store.abort(id);
    await store.clear();
  }

  /** Does nothing if the layout cannot change messages. */
  async #changeInAllWays(): Promise<void> {
    const { store } = this;
    if (!store.change) return;
    await this.offer('debounced', { after: HOUR });
    const body = Buffer.from('its body');
    await store.offer([{ id: 'debounced', due: { after: HOUR }, onDuplicate: 'replace', maxWait: 1, body }]);
    for (const id of ['debounced', 'none']) {
      for (const from of [Buffer.from('stale'), body]) await store.change(id, { due: { at: 0 }, from, to: 'another' });
    }
    await store.cancel('debounced');
  }

  async #listInAllWays(): Promise<void> {
    for (const state of ['delayed', 'ready', 'active', 'dead'] as const) {
      const { cursor } = await this.store.list({ state, limit: 1 });
      for (const from of [{ offset: 1 }, ...(cursor === null ? [] : [{ cursor }])]) {
        await this.store.list({ state, from, limit: 9 });
      }
    }
    await this.store.list({ state: 'ready', from: { cursor: 'ready:0:none' }, limit: 1 });
  }

  /** Claims some, all or no messages, in place of other claims, and while the queue is paused. */
  async #claimInAllWays(): Promise<void> {
    const { store } = this;
    await this.makeReadyAgain('failed');
    for (const id of ['a', 'b', 'c']) await this.offer(id, { at: 0 });
    await this.transfer();
    const wakeSignal = store.openWakeSignal();
    await wakeSignal.wait(1000);
    await wakeSignal.close();
    await store.wake();
    for (const limit of [1, 0, 1]) await store.claim({ token: 'some', limit, lease: HOUR });
    // Random, because ended tokens outlive the queue.
    const tokens = [3, 2, 1, 0].map((limit) => randomName(`asks-for-${limit}`));
    for (const [i, token] of tokens.entries()) {
      await store.claim({ token, supersedes: tokens[i - 1] ?? 'none', limit: 3 - i, lease: HOUR });
    }
    await store.pause();
    await store.claim({ token: 'paused', limit: 9, lease: HOUR });
    await store.resume();
    await store.claim({ token: 'rest', limit: 9, lease: HOUR });
    await store.extend(
      [
        { id: 'a', token: 'rest' },
        { id: 'c', token: 'rest' },
        { id: 'none', token: 'none' },
      ],
      HOUR,
    );
    await store.clear();
  }

  async #releaseInAllWays(): Promise<void> {
    const release = async (id: string) => {
      const token = await this.take([id, `with ${id}`]);
      await this.store.settle([{ claim: { id, token }, outcome: { kind: 'release' } }]);
    };
    await release('a');
    await this.store.extend([{ id: 'b', token: await this.take(['b', 'a stray']) }], HOUR);
    await this.store.pause();
    await this.store.resume();
    await this.store.clear();
    await this.store.offer([{ id: 'c', due: { at: 0 }, onDuplicate: 'keep', body: '' }]);
    await this.transfer();
    await this.store.claim({ token: 'c', limit: 1, lease: HOUR });
    await this.store.pause();
    await this.store.settle([{ claim: { id: 'c', token: 'c' }, outcome: { kind: 'release' } }]);
    await this.store.resume();
    await this.store.clear();
  }

  async #repairInAllWays(): Promise<void> {
    await this.store.repair(30_000);
    for (const state of ['running', 'paused']) {
      if (state === 'paused') await this.store.pause();
      await this.offer('delayed', { after: HOUR });
      await this.take(['active']);
      await this.end(['dead'], DEAD);
      await this.damage.lose('lost and due', recordDueAt(0));
      await this.damage.lose('lost and not due', recordDueAt(Date.now() + HOUR));
      await this.store.repair(30_000);
      await this.store.resume();
      await this.store.clear();
    }
    await this.take(['without a lease']);
    await this.damage.forgetLeases();
    await this.store.repair(30_000);
    await this.store.clear();
    await this.makeReadyAgain('gone after a failure');
    await this.damage.forget('gone after a failure');
    await this.store.claim({ token: 'of what is gone', limit: 1, lease: HOUR });
    await this.store.clear();
  }

  async #endInAllWays(): Promise<void> {
    await this.end(['a'], { kind: 'ack' });
    await this.end(['a', 'b'], PUT_OFF);
    await this.end(['a'], { kind: 'ack' });
    await this.end(['b'], { kind: 'defer', delay: HOUR });
    await this.#endAgain();
    await this.end(['c', 'd', 'e'], DEAD);
    await this.end(['put off anew'], { kind: 'defer', delay: HOUR, body: 'J"anew"' });
    await this.end(['dead anew'], { kind: 'dead', error: '{}', body: 'J"anew"' });
    const token = await this.take(['f', 'g']);
    await this.store.settle([{ claim: { id: 'f', token }, outcome: { kind: 'ack' } }]);
    const ofTwo = [
      { id: 'g', token },
      { id: 'h', token: await this.take(['h']) },
    ];
    await this.store.settle(ofTwo.map((claim) => ({ claim, outcome: { kind: 'ack' } })));
    await this.store.clear();
  }

  /** Settles with `again`: messages that failed before, and one that did not. */
  async #endAgain(): Promise<void> {
    await this.end(['tried'], RETRY);
    await until(async () => (await this.transfer()).moved > 0);
    const { messages } = await this.store.claim({ token: 'tried again', limit: 1, lease: HOUR });
    const claims = messages.map(({ id }) => ({ id, token: 'tried again' }));
    await this.store.settle(claims.map((claim) => ({ claim, outcome: { kind: 'again', delay: HOUR } })));
    await this.end(['anew'], { kind: 'again', delay: HOUR, body: 'J"anew"' });
  }

  /** Lets leases end so that messages are first ready again and then dead, fewer at a time than the claim holds. */
  async #loseLeases(): Promise<void> {
    const ids = ['a', 'b', 'c'];
    await this.take(ids, 1);
    let lost = 0;
    await until(async () => (lost += (await this.transfer(1)).recovered) === ids.length);
    await this.store.claim({ token: 'again', limit: ids.length, lease: 1 });
    await until(async () => (lost -= (await this.transfer(1)).deadLettered.length) === 0);
    await this.store.clear();
  }

  async #lookAfterDeadLetters(): Promise<void> {
    const { store } = this;
    await this.end(['a', 'b'], DEAD);
    await store.redrive({ id: 'a' });
    await store.redrive({ oldest: 9 });
    await store.clear();
    await this.end(['a', 'b'], DEAD);
    await store.discard({ id: 'a' });
    await store.discard({ oldest: 9 });
    await store.clear();
  }
}

function recordDueAt(due: number): Buffer {
  const record = Buffer.alloc(12);
  record.writeUIntBE(due, 0, 6);
  return record;
}
