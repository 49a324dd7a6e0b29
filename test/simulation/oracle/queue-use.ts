import type { TransferReport } from '../../../lib/store/consumer-store.js';
import type { QueueTraits } from '../applications/scenario.js';
import type { ServedStore } from '../network/served-store.js';
import { GroupUse } from './group-use.js';
import type { Life } from './life.js';
import type { LimitsUse } from './limits-use.js';
import type { Member } from './member.js';

/** The number of transfers that are remembered. */
const MAX_TRANSFERS = 32;

/** A transfer that has moved messages. */
export interface Transfer {
  readonly member: Member;
  /** ms of the world. */
  readonly at: number;
  readonly report: TransferReport;
  /** True if the process has got the answer. */
  isKnown: boolean;
}

/** The server's state of a queue, or of a partition of it. */
export class QueueUse {
  /** Messages that somebody holds. */
  readonly held = new Set<Life>();
  readonly groups = new Map<string, GroupUse>();
  /** Since when fewer messages are held than may be, ms of the world. */
  roomSince = -Infinity;
  isPaused = false;
  /** The time at which it went on after a pause, ms of the world. */
  resumedAt = -Infinity;

  /** The latest transfers that have moved messages, oldest first. */
  readonly #transfers: Transfer[] = [];

  constructor(
    readonly traits: QueueTraits,
    readonly store: ServedStore,
    readonly limits: LimitsUse,
  ) {}

  transferred(member: Member, report: TransferReport, at: number): void {
    this.#transfers.push({ member, at, report, isKnown: false });
    if (this.#transfers.length > MAX_TRANSFERS) this.#transfers.shift();
  }

  /** The process of a transfer has got the answer. */
  answered(report: TransferReport): void {
    const transfer = this.#transfers.find((each) => each.report === report);
    if (transfer) transfer.isKnown = true;
  }

  get lastTransfer(): Transfer | undefined {
    return this.#transfers.at(-1);
  }

  /** The last transfer before an instant, and the first one after it; undefined: not remembered, or there was none. */
  transfersAround(instant: number): { readonly before: Transfer | undefined; readonly after: Transfer | undefined } {
    const at = this.#transfers.findIndex((transfer) => transfer.at >= instant);
    return at < 0
      ? { before: this.#transfers.at(-1), after: undefined }
      : { before: this.#transfers[at - 1], after: this.#transfers[at] };
  }

  groupOf(name: string | undefined): GroupUse | undefined {
    const { permits, groupRate } = this.traits;
    if (name === undefined || permits === null) return undefined;
    let group = this.groups.get(name);
    if (!group) this.groups.set(name, (group = new GroupUse(name, permits, groupRate)));
    return group;
  }
}
