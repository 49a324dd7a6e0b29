import { expect } from '@jest/globals';
import { hasCode } from '../../lib/message/failure.js';
import { ofGroup } from '../support/of-group.js';
import type { Claim, Outcome, WakeSignal } from '../../lib/store/consumer-store.js';
import type { DueTime, Offer } from '../../lib/store/producer-store.js';
import { type ContractQueue, HOUR } from './contract-queue.js';

/** How long to wait for a signal that must not come, ms. */
const SILENCE = 150;

/** On a busy machine, a wait may end before its connection is open, which says nothing about signals. */
function isOpening(error: unknown): true {
  if (hasCode(error, 'NOT_CONNECTED')) return true;
  throw error;
}

export const idsOf = (claims: readonly { readonly id: string }[]) => claims.map(({ id }) => id);

/** A queue with groups: the first letter of an id is the group of its message, unless an offer says otherwise. */
export class GroupedQueue {
  constructor(readonly queue: ContractQueue) {}

  get store() {
    return this.queue.store;
  }

  async offer(
    id: string,
    due: DueTime,
    { onDuplicate = 'reject', group = id[0]! }: { onDuplicate?: Offer['onDuplicate']; group?: string } = {},
  ): Promise<void> {
    const body = Buffer.from(`J"${id}"`);
    await this.store.offer([ofGroup({ id, due, onDuplicate, body }, group)]);
  }

  /** Makes new messages ready, in this order, as far as their groups allow. */
  async makeReady(...ids: string[]): Promise<void> {
    const longAgo = Math.floor(await this.queue.now()) - HOUR;
    const offers = ids.map((id, i) => {
      const body = Buffer.from(`J"${id}"`);
      return ofGroup({ id, due: { at: longAgo + i }, onDuplicate: 'reject', body }, id[0]!);
    });
    await this.store.offer(offers);
    await this.queue.transfer();
  }

  claim(limit?: number, lease?: number): Promise<Claim[]> {
    return this.queue.claim(limit, lease);
  }

  /** The ids that a claim takes. */
  async take(limit?: number): Promise<string[]> {
    return idsOf(await this.claim(limit));
  }

  settle(claim: Claim | undefined, outcome: Outcome): Promise<boolean> {
    return this.queue.settle(claim, outcome);
  }

  /** Makes messages ready, and claims the first of them. */
  async begin(...ids: string[]): Promise<Claim> {
    await this.makeReady(...ids);
    const [claim, ...others] = await this.claim(1);
    expect([claim!.id, others]).toEqual([ids[0], []]);
    return claim!;
  }

  /** Makes messages ready; the first of them was claimed, has failed and waits for a retry. */
  async beginHeld(...ids: string[]): Promise<void> {
    await this.settle(await this.begin(...ids), { kind: 'retry', delay: HOUR });
    expect(await this.take()).toEqual([]);
  }

  /** A wake-up signal that has not been sent. */
  async silentSignal(): Promise<WakeSignal> {
    const signal = this.queue.openWakeSignal();
    while (await this.isWoken(signal).catch(isOpening));
    return signal;
  }

  async isWoken(signal: WakeSignal): Promise<boolean> {
    const waiting = signal.wait(SILENCE);
    await this.queue.advance(SILENCE);
    return waiting;
  }

  /** Handles everything that is ready, `limit` messages at a time, and returns the ids in order. */
  async handleAll(limit: number): Promise<string[]> {
    const handled: string[] = [];
    for (;;) {
      const claims = await this.claim(limit);
      if (claims.length === 0) return handled;
      handled.push(...idsOf(claims));
      await this.store.settle(claims.map((claim) => ({ claim, outcome: { kind: 'ack' } as const })));
    }
  }
}
