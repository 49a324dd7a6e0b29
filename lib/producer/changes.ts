import { Inject, Injectable } from '@nestjs/common';
import type { CheckOfType } from '../options/queue-definition.js';
import {
  type BodyRules,
  encodeBody,
  type MessageBody,
  type MessageContent,
  oversized,
} from '../message/codec/message-codec.js';
import { changeInside } from '../message/codec/body-forms.js';
import { DelayQueueError, withMessageId } from '../message/delay-queue-errors.js';
import { type DueTime, type Duration, readDue } from '../message/duration.js';
import { assertMessageId, assertMessageType, NO_TYPE } from '../message/message-id.js';
import type { MessageHeaders } from '../message/message.js';
import { readFields, reading } from '../message/read-fields.js';
import type { Retries } from '../message/retries.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import type { StoredBackoff } from '../options/queue-options.js';
import { readRetries } from '../options/resolve-options.js';
import { CLOCK, RESOLVED_OPTIONS } from '../runtime/delay-queue-tokens.js';
import type { Queue } from '../runtime/queues.js';
import type { StoredMessage } from '../store/admin-store.js';
import type { ChangeOutcome } from '../store/producer-store.js';
import type { MessageStore } from '../store/message-store.js';
import { unsupported } from '../store/unsupported.js';
import type { Clock } from '../timing/clock.js';
import { readHeaders } from './offer.js';
import { checkInTime } from './payload-in-time.js';
import { assertRetries } from './assert-supported.js';

/** Changes that `reschedule` makes in addition to the due time. An omitted field stays as it is. */
export interface MessageChange {
  /** Replaces the payload: JSON values or a `Buffer`. */
  readonly payload?: unknown;
  /** Replaces all headers. */
  readonly headers?: MessageHeaders | undefined;
  /** Replaces the type: 1–64 of the characters `A–Z a–z 0–9 _ . : -`. */
  readonly type?: string | undefined;
  /** Replaces the message's own `attempts`: 1–1,000,000. If it has already failed as often, it has one attempt left. */
  readonly attempts?: number | undefined;
  /** Replaces the message's own `backoff`, which cannot be a function. */
  readonly backoff?: StoredBackoff | undefined;
}

/** A change that has been read. */
interface CheckedChange extends Pick<MessageChange, 'payload' | 'headers' | 'type'> {
  readonly retries?: Retries | undefined;
}

/** `late`: the message exists, but is not delayed. */
type Outcome = Exclude<ChangeOutcome, 'stale' | 'oversized'> | 'late';

/** The rules of a typed queue: payload checks, and the attempts and backoff of messages, by type. */
export interface PayloadRules {
  readonly checkOf: CheckOfType;
  readonly retries: ReadonlyMap<string, Retries>;
  readonly readChange: (given: MessageChange | undefined) => CheckedChange | undefined;
}

interface ChangeRequest {
  readonly id: string;
  readonly due: Duration | Date;
  readonly change: MessageChange | undefined;
  /** Default: changes are read with {@link readChange}, and payloads are not checked. */
  readonly payloads?: PayloadRules | undefined;
  /** The time, on the monotonic clock, after which the change has no effect. */
  readonly notAfter?: number;
}

interface ChangeToMake {
  readonly id: string;
  readonly due: DueTime;
  readonly parts: Partial<MessageContent>;
  readonly rules: BodyRules;
  readonly notAfter: number | undefined;
}

/** Changes delayed messages, for the producer and the typed queues. */
@Injectable()
export class Changes {
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(RESOLVED_OPTIONS) private readonly limits!: Pick<ResolvedModuleOptions, 'offerTimeout'>;

  /** Moves a message's due time and applies the change in the same step. Returns false if the message is not delayed. */
  async reschedule(queue: Queue, { id, due, change, payloads, notAfter }: ChangeRequest): Promise<boolean> {
    assertMessageId(id);
    const dueTime = readDue(due);
    const read = (payloads?.readChange ?? readChange)(change);
    if (!read) {
      return queue.router.lookUp(id, (store) => store.reschedule(id, dueTime, notAfter));
    }
    if (read.retries) assertRetries(queue, read.retries);
    if (!queue.options.layout.can.changes) throw unsupported(queue, 'a change of payload, headers or type');
    const rules = { codec: queue.codec, maxPayloadBytes: queue.options.maxPayloadBytes };
    const parts = await this.#parts(queue, { change: read, rules, checkOf: payloads?.checkOf });
    const toMake = { id, due: dueTime, parts, rules, notAfter };
    const outcome = await queue.router.lookUp(
      id,
      (store) => this.#change(store, toMake),
      (outcome) => outcome !== 'absent',
    );
    return outcome === 'changed';
  }

  /** Encodes the change before the message is looked up, so it is read only once, and checked even if there is no such message. */
  async #parts(
    queue: Queue,
    { change, rules, checkOf }: { change: CheckedChange; rules: BodyRules; checkOf: CheckOfType | undefined },
  ): Promise<Partial<MessageContent>> {
    const { type = NO_TYPE, payload = null, headers = {} } = change;
    const hasPayload = change.payload !== undefined;
    const check = hasPayload ? checkOf?.(type) : undefined;
    const body = encodeBody(rules, { type, payload, headers });
    if (!hasPayload) return change;
    if (check) await checkInTime(check, { queue: queue.name, type, body, codec: rules.codec }, this.clock, this.limits);
    return { ...change, payload: rules.codec.decode(Buffer.from(body)).payload };
  }

  /** Changes a message in one store. If another caller has changed it in between, reads it again and retries, for up to `offerTimeout`. */
  async #change(store: MessageStore, { id, due, parts, rules, notAfter }: ChangeToMake): Promise<Outcome> {
    const { offerTimeout } = this.limits;
    const giveUpAt = this.clock.monotonic() + offerTimeout;
    do {
      const found = await store.find(id);
      if (found?.state !== 'delayed') return found ? 'late' : 'absent';
      const to = composed(rules, found, parts);
      const outcome = await store.change!(id, { due, from: found.body, to, notAfter });
      if (outcome === 'oversized') throw new DelayQueueError('PAYLOAD_TOO_LARGE', oversized(to), { messageId: id });
      if (outcome !== 'stale') return outcome;
    } while (this.clock.monotonic() < giveUpAt);
    const problem = `others kept changing message '${id}' for offerTimeout, ${offerTimeout} ms. Nothing was written. Try again`;
    throw new DelayQueueError('OFFER_TIMEOUT', problem, { messageId: id });
  }
}

/**
 * Returns a body with some of its parts replaced. If the body holds the time at which its message first fell due, because the message was
 * put off or waits for a retry, that time is kept, so the message's expiry does not change.
 * @throws DelayQueueError `INVALID_PAYLOAD` if the body cannot be read, `PAYLOAD_TOO_LARGE`
 */
function composed(
  rules: BodyRules,
  { id, body, failedAttempts }: Pick<StoredMessage, 'id' | 'body' | 'failedAttempts'>,
  parts: Partial<MessageContent>,
): MessageBody {
  try {
    const content = rules.codec.decode(body);
    const retries = parts.retries && changedRetries(content.retries, parts.retries, failedAttempts);
    const changed = encodeBody(rules, { ...content, ...parts, ...(retries && { retries }) });
    return changeInside(body, () => changed);
  } catch (error) {
    throw withMessageId(error, id);
  }
}

/** A message has failed fewer times than it has attempts, or it would be dead. So a change leaves it one attempt at least. */
function changedRetries(before: Retries | undefined, after: Retries, failedAttempts: number): Retries {
  const { attempts } = after;
  return { ...before, ...after, ...(attempts !== undefined && { attempts: Math.max(attempts, failedAttempts + 1) }) };
}

const FIELDS_OF_ONE_KIND: readonly (keyof MessageChange)[] = ['payload', 'headers', 'attempts', 'backoff'];
const FIELDS: readonly (keyof MessageChange)[] = [...FIELDS_OF_ONE_KIND, 'type'];

/** Reads and checks a change. Reads each field only once. Returns undefined if nothing is to be changed. */
function readChange(given: MessageChange | undefined, fields = FIELDS): CheckedChange | undefined {
  if (given === undefined) return undefined;
  const { payload, headers, type, attempts, backoff } = readFields(given, 'change', fields);
  if (payload === undefined && reading('change', () => Object.hasOwn(given, 'payload'))) {
    throw new DelayQueueError('INVALID_PAYLOAD', 'payload: it is undefined; leave it out to keep the current one');
  }
  if (type !== undefined) assertMessageType(type);
  const change = {
    ...(payload !== undefined && { payload }),
    ...(headers !== undefined && { headers: readHeaders(headers) }),
    ...(type !== undefined && { type }),
    ...((attempts !== undefined || backoff !== undefined) && { retries: readRetries({ attempts, backoff }) }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

/** Like {@link readChange}, for a queue whose messages have no type. */
export function readChangeOfOneKind(given: MessageChange | undefined): CheckedChange | undefined {
  const change = readChange(given, FIELDS_OF_ONE_KIND);
  return change?.payload === undefined ? change : { ...change, type: NO_TYPE };
}

/** Like {@link readChange}, for a queue whose messages have types: a type requires a payload. */
export function readChangeOfTypes(given: MessageChange | undefined): CheckedChange | undefined {
  const change = readChange(given);
  if (change?.type === undefined || change.payload !== undefined) return change;
  throw new DelayQueueError('INVALID_ARGUMENT', 'type: goes with a payload of that type');
}
