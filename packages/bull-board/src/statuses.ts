import type { JobStatus } from '@bull-board/api/typings/app';
import type { MessageState } from 'nestjs-delay-queue';

/** The board's names for the states of a message. */
export const STATUS_OF = {
  active: 'active',
  ready: 'waiting',
  dead: 'failed',
  delayed: 'delayed',
} as const satisfies Record<MessageState, JobStatus>;

/** The statuses that a message can have, in the order of the board's tabs. */
export const STATUSES: readonly JobStatus[] = Object.values(STATUS_OF);

const STATE_OF = new Map<string, MessageState>(
  Object.entries(STATUS_OF).map(([state, status]) => [status, state as MessageState]),
);

/** Returns the state of a status of the board; undefined if no message has this status. */
export function stateOf(status: string): MessageState | undefined {
  return STATE_OF.get(status);
}
