import type { MessageStore } from '../../../lib/store/message-store.js';
import { until } from '../../support/until.js';

const HOUR = 3_600_000;
const ACK = { kind: 'ack' } as const;

/** Takes the short paths of the native layout, for queues without limits. */
export class NativeExercise {
  #tokens = 0;

  constructor(private readonly store: MessageStore) {}

  async run(): Promise<void> {
    const { store } = this;
    await this.#offer(['a', 'b'], { after: HOUR });
    await this.#offer(['a'], { after: HOUR });
    await this.#offer(['c', 'd', 'a'], { after: HOUR });
    await store.clear();
    await this.#transferAndClaim([], 9);
    for (const ids of [['a'], ['b', 'c', 'd']]) {
      await this.#offer(ids, { at: 0 });
      const { token, messages } = await this.#transferAndClaim(ids, 9);
      await this.#ack(messages, token);
    }
    await this.#ackOneByOne();
    await this.#ackAfterFailures();
    await store.clear();
    await this.#repeatInAllStates();
  }

  async #ackOneByOne(): Promise<void> {
    await this.#offer(['a', 'b'], { at: 0 });
    const { token, messages } = await this.#transferAndClaim(['a', 'b'], 9);
    for (const id of messages) await this.#ack([id], token);
  }

  async #ackAfterFailures(): Promise<void> {
    await this.#offer(['failed', 'again', 'gone'], { at: 0 });
    const { token } = await this.#transferAndClaim(['failed', 'again', 'gone'], 9);
    await this.store.settle([
      { claim: { id: 'failed', token }, outcome: { kind: 'retry', delay: 0 } },
      { claim: { id: 'again', token }, outcome: { kind: 'again', delay: 0 } },
      { claim: { id: 'gone', token }, outcome: ACK },
    ]);
    const second = await this.#transferAndClaim(['failed', 'again'], 9);
    await this.#ack(second.messages, second.token);
  }

  /** Offers a message that repeats while it is in each state, ends its occurrences, and cancels and aborts it while it is active. */
  async #repeatInAllStates(): Promise<void> {
    const { store } = this;
    const later = 4_000_000_000_000;
    const repeat = (payload: number, at = later) =>
      store.offer([{ id: 'r', due: { at }, onDuplicate: 'repeat', body: `Nrepeat\n{}\nJ${payload}` }]);
    const pause = () => store.pauseRepeat!('r', {});
    const resume = async () => store.pauseRepeat!('r', { resume: { at: later, from: (await store.find('r'))!.body } });
    await repeat(1);
    await repeat(2);
    await pause();
    await resume();
    await store.pauseRepeat!('nobody', {});
    await store.reschedule('r', { at: 0 });
    // Due, but not active: it gets the body; once with another offer in the call, and once alone.
    await store.offer([
      { id: 'r', due: { at: later }, onDuplicate: 'repeat', body: 'Nrepeat\n{}\nJ3' },
      { id: 'other', due: { at: later }, onDuplicate: 'replace', body: 'J' },
    ]);
    await repeat(4);
    const first = await this.#transferAndClaim(['r'], 9);
    await repeat(5);
    await pause();
    await resume();
    await this.store.settle([{ claim: { id: 'r', token: first.token }, outcome: { kind: 'ack', next: { at: 0 } } }]);
    await store.reschedule('r', { at: 0 });
    const second = await this.#transferAndClaim(['r'], 9);
    const next = { at: 0, letter: '{r}@1', failedAttempts: 1 };
    await this.store.settle([
      { claim: { id: 'r', token: second.token }, outcome: { kind: 'dead', error: '{}', next } },
    ]);
    const third = await this.#transferAndClaim(['r'], 9);
    await store.cancel('r');
    await this.store.settle([{ claim: { id: 'r', token: third.token }, outcome: { kind: 'ack', next: { at: 0 } } }]);
    await repeat(6);
    await store.reschedule('r', { at: 0 });
    await this.#transferAndClaim(['r'], 9);
    await repeat(7);
    await store.abort('r');
  }

  async #offer(ids: readonly string[], due: { after: number } | { at: number }): Promise<void> {
    await this.store.offer(ids.map((id) => ({ id, due, onDuplicate: 'keep', body: `body of ${id}` })));
  }

  /** Claims these messages with a transfer, once they are due. */
  async #transferAndClaim(ids: readonly string[], limit: number) {
    for (const messages: string[] = []; ;) {
      const announcer = { scheduler: 'exercise', movedAt: null };
      const token = `short-${this.#tokens++}`;
      const both = await this.store.transferAndClaim!({ token, limit, lease: HOUR }, announcer);
      messages.push(...both!.claimed.messages.map(({ id }) => id));
      if (messages.length >= ids.length) return { token, messages };
      await until(async () => (await this.store.status()).nextDue! < (await this.store.status()).now);
    }
  }

  async #ack(ids: readonly string[], token: string): Promise<void> {
    await this.store.settle(ids.map((id) => ({ claim: { id, token }, outcome: ACK })));
  }
}
