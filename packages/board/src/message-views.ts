import { EncryptedPayload, type HandledMessage, type MessageSnapshot, type RepeatProgress } from 'nestjs-delay-queue';
import type { HandledRow, HandledView, MessageRow, MessageView, PayloadView, RuleView } from './api.js';
import type { ShownMessage } from './options.js';

type AnyMessage = MessageSnapshot | HandledMessage;

export type Show = (message: AnyMessage) => ShownMessage | undefined;

const MAX_PREVIEW = 200;

/** Makes the views of messages that leave the process, without what `show` leaves out. */
export class MessageViews {
  constructor(private readonly show: Show | undefined) {}

  row(message: MessageSnapshot): MessageRow {
    const { payload, headers } = this.#shown(message);
    const { error, ...fields } = fieldsOf(message);
    return {
      ...fields,
      headers,
      // A stack is long, and a list has up to 1,000 of them.
      ...(error && { error: { name: error.name, message: error.message } }),
      preview: previewOf(payload),
    };
  }

  view(message: MessageSnapshot): MessageView {
    const { payload, headers } = this.#shown(message);
    return { ...fieldsOf(message), headers, payload };
  }

  handledRow(message: HandledMessage): HandledRow {
    return { ...handlingOf(message), ...(message.headers && { preview: previewOf(this.#shown(message).payload) }) };
  }

  handled(message: HandledMessage): HandledView {
    return { ...handlingOf(message), ...(message.headers && this.#shown(message)) };
  }

  #shown(message: AnyMessage): { payload: PayloadView; headers: Readonly<Record<string, string>> } {
    if (!this.show) return { payload: payloadView(message.payload), headers: message.headers! };
    const shown = shownBy(this.show, message);
    if (typeof shown === 'string') return { payload: { kind: 'hidden', reason: shown }, headers: {} };
    return { payload: payloadView(shown.payload), headers: textsOf(shown.headers) };
  }
}

/** Calls `show`, and shows nothing if it fails. */
function shownBy(show: Show, message: AnyMessage): ShownMessage | string {
  try {
    const shown: unknown = show(message);
    if (shown === undefined || shown === null) return 'The application does not show this payload.';
    if (typeof shown === 'object' && !('then' in shown)) return shown;
    return 'The option `show` has returned no object with `payload` and `headers`.';
  } catch {
    return 'The option `show` has failed.';
  }
}

function textsOf(headers: object = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function fieldsOf(message: MessageSnapshot): Omit<MessageView, 'payload' | 'headers'> {
  const { id, queue, state, type, group, dueAt, offeredAt, failedAttempts } = message;
  const { attempts, backoff, expiresAt, repeat, leasedUntil, diedAt, error } = message;
  return {
    id,
    queue,
    state,
    type,
    ...(group !== undefined && { group }),
    dueAt: dueAt.toISOString(),
    offeredAt: offeredAt.toISOString(),
    failedAttempts,
    ...(attempts !== undefined && { attempts }),
    ...(backoff && { backoff }),
    ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
    ...(repeat && { repeat: ruleView(repeat) }),
    ...(leasedUntil && { leasedUntil: leasedUntil.toISOString() }),
    ...(diedAt && { diedAt: diedAt.toISOString() }),
    ...(error && { error }),
  };
}

/** What is known of a handled message without its payload. */
function handlingOf(message: HandledMessage): HandledRow {
  const { id, queue, type, group, attempts, backoff, dueAt, offeredAt, handledAt } = message;
  const { lateness, took, attempt, worker } = message;
  return {
    ...{ id, queue, type },
    ...(group !== undefined && { group }),
    ...(attempts !== undefined && { attempts }),
    ...(backoff && { backoff }),
    ...{ dueAt: dueAt.toISOString(), offeredAt: offeredAt.toISOString(), handledAt: handledAt.toISOString() },
    ...{ lateness, took, attempt, worker },
  };
}

export function ruleView({ startsAt, endsAt, ...rule }: RepeatProgress): RuleView {
  const bounds = {
    ...(startsAt && { startsAt: startsAt.toISOString() }),
    ...(endsAt && { endsAt: endsAt.toISOString() }),
  };
  return { ...(rule as RuleView), ...bounds };
}

function payloadView(payload: unknown): PayloadView {
  if (payload === undefined) return { kind: 'hidden', reason: 'The application does not show this payload.' };
  if (payload instanceof EncryptedPayload) return { kind: 'encrypted', key: payload.key, size: payload.bytes.length };
  if (payload instanceof Uint8Array) {
    return { kind: 'bytes', base64: Buffer.from(payload).toString('base64'), size: payload.length };
  }
  try {
    // A codec of a layout may read a BigInt.
    const text = JSON.stringify(payload, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    return { kind: 'json', value: JSON.parse(text) };
  } catch (error) {
    return { kind: 'hidden', reason: `This payload cannot be shown as JSON: ${String(error)}` };
  }
}

function previewOf(payload: PayloadView): string {
  if (payload.kind === 'hidden') return '';
  if (payload.kind === 'encrypted') return 'encrypted';
  if (payload.kind === 'bytes') return `${payload.size} bytes`;
  const text = JSON.stringify(payload.value);
  if (text.length <= MAX_PREVIEW) return text;
  // Not half of a character.
  return `${text.slice(0, MAX_PREVIEW - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
