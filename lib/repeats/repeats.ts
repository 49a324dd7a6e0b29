import { Inject, Injectable } from '@nestjs/common';
import type { RepeatsOf } from '../consumer/message-runner.js';
import { ruleAndContent, unwrapPutOff, withProgress } from '../message/codec/body-forms.js';
import { encodeBody } from '../message/codec/message-codec.js';
import { DelayQueueError, withMessageId } from '../message/delay-queue-errors.js';
import { dueAt } from '../message/duration.js';
import { assertMessageId, MAX_ID_BYTES, NO_TYPE } from '../message/message-id.js';
import { tagOf } from '../message/partition-of.js';
import { readFields, readWholeNumber } from '../message/read-fields.js';
import { isCounted, letterIdOf, type RepeatProgress, type RepeatRule } from '../message/repeat-rule.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import type { RepeatOptions, RepeatTimes } from '../options/queue-options.js';
import { CLOCK, type HandledRepeats, RESOLVED_OPTIONS } from '../runtime/delay-queue-tokens.js';
import type { Queue } from '../runtime/queues.js';
import type { Clock } from '../timing/clock.js';
import { checkOfferOptions, type OfferResult, withRetries } from '../producer/offer.js';
import { Offers } from '../producer/offers.js';
import { checkInTime } from '../producer/payload-in-time.js';
import type { OccurrenceQuery, OfferedRepeats, RepeatRequest } from '../producer/queue-methods.js';
import { duplicate } from '../producer/queue-writer.js';
import type { Offer } from '../store/producer-store.js';
import { unsupported } from '../store/unsupported.js';
import { readRule, RULE_FIELDS } from './read-rule.js';
import { repeatsWith } from './repetition.js';
import { RuleTimes } from './rule-times.js';
import { StoredRepeats, timeInStore } from './stored-repeats.js';

type GivenOptions = RepeatRequest['options'];

interface RepeatOffer {
  readonly id: string;
  readonly rule: RepeatRule;
  readonly body: Buffer;
}

const OPTIONS_OF_TYPE: readonly (keyof RepeatOptions)[] = [
  ...RULE_FIELDS,
  ...(['headers', 'expiresAfter', 'onExpired', 'attempts', 'backoff'] as const),
];
const OPTIONS: readonly (keyof GivenOptions)[] = ['type', ...OPTIONS_OF_TYPE];
/** Those of a rule as `find` shows it. */
const PROGRESS_FIELDS: readonly (keyof RepeatProgress)[] = [...RULE_FIELDS, 'count', 'isPaused'];

/** The maximum number of tries: an offer fails if its due time passes before it arrives. */
const MAX_ROUNDS = 10;

const MAX_OCCURRENCES = 100;

@Injectable()
export class Repeats implements OfferedRepeats, HandledRepeats {
  @Inject() private readonly offers!: Offers;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(RESOLVED_OPTIONS) private readonly limits!: Pick<ResolvedModuleOptions, 'offerTimeout' | 'calendar'>;
  #times: RuleTimes | undefined;

  get times(): RuleTimes {
    return (this.#times ??= new RuleTimes(this.limits.calendar));
  }

  termsFor(attempts: number): RepeatsOf {
    return repeatsWith({ times: this.times, attempts });
  }

  of(queue: Queue): StoredRepeats {
    if (!queue.options.layout.can.repeats) throw unsupported(queue, 'repeats');
    const offer = (message: Offer) => this.offers.writerOf(queue).writeAlone(message);
    return new StoredRepeats(queue, { times: this.times, clock: this.clock, offer });
  }

  async repeat(queue: Queue, request: RepeatRequest): Promise<OfferResult> {
    const { id, type: known, options, payload, check } = request;
    assertRepeatId(id);
    const read = readFields<GivenOptions>(options, 'repeat', known === undefined ? OPTIONS : OPTIONS_OF_TYPE);
    const { type = known ?? NO_TYPE, headers = {}, special } = withRetries(checkOfferOptions(read), request.retries);
    const rule = readRule(read);
    if (!queue.options.layout.can.repeats) throw unsupported(queue, 'repeat');
    this.#nextAfter(rule, this.clock.wall());
    const rules = { codec: queue.codec, maxPayloadBytes: queue.options.maxPayloadBytes };
    const { expiry, retries } = special ?? {};
    const body = encodeBody(rules, { type, payload, headers, expiry, retries, repeat: rule });
    if (check) await checkInTime(check, { queue: queue.name, type, body, codec: queue.codec }, this.clock, this.limits);
    try {
      return await this.#offer(queue, {
        id,
        rule,
        body: await unchanged(queue, { id, rule, body: Buffer.from(body) }),
      });
    } catch (error) {
      throw withMessageId(error, id);
    }
  }

  occurrences(given: RepeatTimes | RepeatProgress, query: OccurrenceQuery | undefined): Date[] {
    const { count: over = 0, isPaused: _, ...fields } = readFields(given as RepeatProgress, 'rule', PROGRESS_FIELDS);
    const rule = readRule(fields);
    const { after, count = 5 } = query === undefined ? {} : readFields(query, 'query', ['after', 'count']);
    readWholeNumber('count', count, [1, MAX_OCCURRENCES]);
    const from = after === undefined ? this.clock.wall() : dueAt(after, 'after').at;
    return this.times.list({ ...rule, count: over }, from, count);
  }

  /** Bypasses the offer observers, because any headers that they added now would be repeated with every occurrence. */
  async #offer(queue: Queue, { id, rule, body }: RepeatOffer): Promise<OfferResult> {
    for (let round = 1; ; round++) {
      const due = this.#nextAfter(rule, await timeInStore(queue, id));
      const offer = { id, due, onDuplicate: 'repeat' as const, body };
      const result = await this.offers.writerOf(queue).writeAlone(offer);
      if (result) return result;
      if (round === MAX_ROUNDS) throw duplicate(queue.name, id);
    }
  }

  #nextAfter(rule: RepeatRule, instant: number): { readonly at: number } {
    const at = this.times.nextAfter(rule, instant);
    if (at !== null) return dueAt(new Date(at), 'the next time of the rule');
    const why = rule.endsAt ? `until its end, ${rule.endsAt.toISOString()}` : 'after now';
    throw new DelayQueueError('INVALID_ARGUMENT', `${nameOf(rule)} has no time ${why}`);
  }
}

function nameOf({ cron, every }: RepeatRule): string {
  return cron === undefined ? `every ${every} ms` : `cron '${cron}'`;
}

/**
 * Returns the stored body, without its progress, if the message is already stored with the same rule and content, because the stores compare
 * bytes: an encrypted body never equals another one.
 */
async function unchanged({ codec, router }: Queue, { id, rule, body }: RepeatOffer): Promise<Buffer> {
  if (!codec.isSame) return body;
  const found = await router.lookUp(id, (store) => store.find(id));
  const stored = found && ruleAndContent(unwrapPutOff(found.body).body);
  try {
    if (!stored || !codec.isSame(stored, ruleAndContent(body))) return body;
    return isCounted(rule) ? withProgress(stored, { count: 0 }) : stored;
  } catch {
    // The stored body cannot be read here.
    return body;
  }
}

/** Checks a repeating message's id. Its dead letters' ids are longer, and must be valid and belong to the same partition. */
function assertRepeatId(id: string): void {
  assertMessageId(id);
  const letter = letterIdOf(id, new Date(0));
  if (Buffer.byteLength(letter) <= MAX_ID_BYTES && tagOf(letter) === tagOf(id)) return;
  const longest = MAX_ID_BYTES - letterIdOf('', new Date(0)).length;
  const problem = `id: a message that repeats needs an id of at most ${longest} bytes without a single '}', because its dead letters have longer ones`;
  throw new DelayQueueError('INVALID_ARGUMENT', problem);
}
