import type { MessageSnapshot, OfferRequest, OfferResult } from 'nestjs-delay-queue';
import { unsupported } from './board-error.js';
import { NO_NAME } from './message-job.js';

const OPTIONS: readonly string[] = ['delay', 'jobId', 'headers', 'group', 'attempts', 'backoff'];

/** Reads the content of the board's form. @throws BoardError for an option that messages do not have */
export function readNewMessage(name: string, payload: unknown, options: object): OfferRequest {
  const unknown = Object.keys(options).filter((option) => !OPTIONS.includes(option));
  if (unknown.length > 0) {
    const names = unknown.join(', ');
    throw unsupported(`A message has no option ${names}. Its options are ${OPTIONS.join(', ')}.`);
  }
  // The producer checks the values.
  const given = options as Partial<OfferRequest> & { readonly jobId?: string };
  const { delay = 0, jobId: id, headers, group, attempts, backoff } = given;
  return {
    payload,
    delay,
    onDuplicate: 'reject',
    ...(name !== '' && name !== NO_NAME && { type: name }),
    ...(id !== undefined && { id }),
    ...(headers !== undefined && { headers }),
    ...(group !== undefined && { group }),
    ...(attempts !== undefined && { attempts }),
    ...(backoff !== undefined && { backoff }),
  };
}

/** Makes a snapshot of a new message as it was offered. */
export function asOffered(queue: string, message: OfferRequest, { id, dueAt }: OfferResult): MessageSnapshot {
  const { type = '', payload, headers = {}, group } = message;
  const grouped = group === undefined ? {} : { group };
  return { id, queue, type, payload, headers, ...grouped, state: 'ready', failedAttempts: 0, dueAt, offeredAt: dueAt };
}
