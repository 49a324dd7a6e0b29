import type { ConductEnd } from '../applications/conduct.js';
import type { Life } from './life.js';
import type { Member } from './member.js';

/** Why a claim of a message has ended. */
export type LossReason = 'lease ended' | 'replaced' | 'aborted' | 'cleared' | 'claimed again' | 'released' | 'settled';

/** What a handler does, or has done. */
export interface Run {
  readonly end: ConductEnd;
  isOver: boolean;
  /** ms of the world. */
  endedAt: number;
}

/** A message under one claim, from the claim until its process has let go of it. */
export interface Delivery {
  readonly token: string;
  readonly member: Member;
  readonly life: Life;
  /** By the server's clock, ms since 1970. */
  readonly dueAt: number;
  readonly attempt: number;
  /** ms of the world. */
  readonly claimedAt: number;
  /** Undefined: its handler has not started. */
  run: Run | undefined;
  /** Undefined: the server has it as held. */
  loss: LossReason | undefined;
  /** ms of the world. */
  lostAt: number;
  /** As the server has it, or had it last, ms of the world. */
  leaseEnd: number;
  /** Whether its process may have another end of the lease in mind: it was extended late, or the server's clock was set. */
  isLeaseUnsure: boolean;
}

/** What one process holds of one queue, as far as the server knows. */
export class Holding {
  /** Since when it has room for more, ms of the world; Infinity: it has none. */
  roomSince = -Infinity;
  readonly #deliveries = new Map<string, Delivery[]>();
  #count = 0;
  /** How many handlers run. */
  running = 0;
  /** When as many handlers last ran as there are calls at once, so that others had to wait, ms of the world. */
  fullAt = -Infinity;

  constructor(private readonly capacity: number) {}

  add(delivery: Delivery): void {
    const { id } = delivery.life;
    const others = this.#deliveries.get(id);
    if (others) others.push(delivery);
    else this.#deliveries.set(id, [delivery]);
    this.#count++;
    if (this.#count >= this.capacity) this.roomSince = Infinity;
  }

  remove(delivery: Delivery, now: number): void {
    const { id } = delivery.life;
    const others = this.#deliveries.get(id);
    const at = others?.indexOf(delivery) ?? -1;
    if (at < 0) return;
    if (others!.length === 1) this.#deliveries.delete(id);
    else others!.splice(at, 1);
    this.#count--;
    if (this.#count === this.capacity - 1) this.roomSince = now;
  }

  find(id: string, token: string): Delivery | undefined {
    return this.#deliveries.get(id)?.find((each) => each.token === token);
  }

  /** The delivery that a handler starts with. Handlers do not know their claims: what was replaced may wait beside what has replaced it. */
  waiting(id: string, { dueAt, attempt }: { readonly dueAt: Date; readonly attempt: number }): Delivery | undefined {
    const all = this.#deliveries.get(id)?.filter(({ run }) => !run) ?? [];
    return all.find((each) => each.dueAt === dueAt.getTime() && each.attempt === attempt) ?? all[0];
  }
}
