import { encryptingCodec } from '../../../lib/encryption/encrypting-codec.js';
import { EncryptionKeys } from '../../../lib/encryption/encryption-keys.js';
import {
  groupOf,
  isPausedRepeat,
  isRepeating,
  ownAttempts,
  ruleAndContent,
  unwrapPutOff,
  withProgress,
  wrapPutOff,
} from '../../../lib/message/codec/body-forms.js';
import type { MessageCodec, MessageContent } from '../../../lib/message/codec/message-codec.js';
import type { RepeatProgress } from '../../../lib/message/repeat-rule.js';
import { bodyType, nativeCodec } from '../../../lib/message/codec/native-codec.js';
import { expectSame, orRefused, type Target } from '../target.js';

const RULE: RepeatProgress = { cron: '0 9 * * 1-5', timeZone: 'Europe/Paris', missed: 'once' };
const COUNTED: RepeatProgress = {
  ...{ every: 60_000, missed: 'each', catchUp: 5000, limit: 9, count: 3, isPaused: true },
  startsAt: new Date(1e12),
  endsAt: new Date(2e12),
};
const EXPONENTIAL = { type: 'exponential', delay: 100, factor: 2, maxDelay: 5000, jitter: 0.5 } as const;

const plain = (payload: unknown): MessageContent => ({ type: '', payload, headers: {} });
const CONTENTS: readonly MessageContent[] = [
  ...[null, 7, 'text', '\n\u0000é€😀', [1, [2.5, null]], { a: { b: [true, 'c'] } }, Buffer.of(0, 10, 255)].map(plain),
  { type: 'cancel-unpaid', payload: { order: 'o-1' }, headers: { trace: '00-ab-cd-01', 'x-é': 'a\nb' } },
  { ...plain({ a: 1 }), type: 't', expiry: { after: 600_000, onExpired: 'drop' } },
  { ...plain(1), expiry: { after: null, onExpired: 'dead' }, retries: { attempts: 9 } },
  { ...plain(2), retries: { backoff: { type: 'fixed', delay: 50, jitter: 0 } }, group: 'tenant é' },
  { ...plain([3]), retries: { attempts: 2, backoff: EXPONENTIAL } },
  { ...plain({}), repeat: RULE, group: 'g' },
  { ...plain('r'), repeat: COUNTED, headers: { h: '' }, expiry: { after: 0 }, retries: { attempts: 1 } },
];
const samplesOf = (codec: MessageCodec) => {
  const bodies = CONTENTS.map((content) => Buffer.from(codec.encode(content) as string));
  return [...bodies, ...bodies.map((body) => wrapPutOff(body, 1_700_000_000_000))];
};

const keys = new Map([['k1', Buffer.alloc(32, 1)]]);
/** So that a seed gives the same inputs. */
const sameNonce = (size: number) => Buffer.alloc(size, 3);
const encrypting = encryptingCodec(new EncryptionKeys(keys, 'k1', sameNonce), 'read');

/** Bodies of the native layout. */
export const nativeBodies: Target = { name: 'bodies', samples: samplesOf(nativeCodec), check: checkBody };

/** Encrypted bodies, and the errors of their dead letters. */
export const encryptedBodies: Target = {
  name: 'encrypted bodies',
  samples: [...samplesOf(encrypting), Buffer.from(encrypting.errors!.encode('{"name":"Error","message":"it failed"}'))],
  check(body) {
    const content = orRefused('INVALID_PAYLOAD', () => encrypting.decode(body));
    if (content) expectStable(encrypting, content);
    orRefused('INVALID_PAYLOAD', () => encrypting.show!(body));
    encrypting.errors!.decode(body.toString());
  },
};

function checkBody(body: Buffer): void {
  const content = orRefused('INVALID_PAYLOAD', () => nativeCodec.decode(body));
  if (content) expectStable(nativeCodec, content);
  orRefused('INVALID_PAYLOAD', () => nativeCodec.show!(body));
  bodyType(body);
  groupOf(body);
  ownAttempts(body);
  ruleAndContent(body);
  isPausedRepeat(body);
  if (isRepeating(body) && content?.repeat)
    expectSame('a pause', isPausedRepeat(withProgress(body, { isPaused: true })), true);
  const { since } = unwrapPutOff(body);
  if (since !== null) unwrapPutOff(wrapPutOff(body, since));
}

/** What has been read can be written, unless JSON has no form for it, such as 1e400. It is read as the same. */
function expectStable(codec: MessageCodec, content: MessageContent): void {
  const body = orRefused('INVALID_PAYLOAD', () => codec.encode(content));
  if (body === undefined) return;
  const read = codec.decode(Buffer.from(body as string));
  expectSame('a body', codec.encode(read), body);
  // JSON reads -0, but writes it as 0. Deep contents would overflow the stack of the comparison.
  if (body.length < MANY_BYTES && !body.includes('0')) expectSame('a content', read, content);
}

const MANY_BYTES = 5000;
