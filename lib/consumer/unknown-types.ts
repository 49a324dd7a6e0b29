import { UnknownBodyForm, unwrapPutOff, wrapPutOff } from '../message/codec/body-forms.js';
import type { Events } from '../events/events.js';
import { describeFailure } from '../message/failure.js';
import type { Outcome } from '../store/consumer-store.js';
import type { Delivery } from './delivery.js';

/** How long a message is put off, ms; ±20 %, so that messages that came together do not keep coming back together. */
const PAUSE = 30_000;

/** How many types, at most, are remembered as reported. Messages of further types are never reported as the first of their type. */
const MAX_TYPES = 1000;

/** The error of a dead letter for which no process had a handler. */
class UnknownType extends Error {
  override readonly name = 'UnknownType';
}

/** Decides the outcome of messages that another process may be able to handle, such as one of the new release in a rolling deploy. */
export class UnknownTypes {
  readonly #reported = new Set<string>();

  constructor(
    private readonly options: {
      /** How long messages wait for a handler after falling due, ms. */
      readonly grace: number;
      readonly events: Events;
      readonly random?: () => number;
    },
  ) {}

  noHandler(delivery: Delivery, body: Buffer): Outcome {
    const { type } = delivery;
    const what = type === '' ? 'messages without a type' : `type '${type}'`;
    return this.#putOff(delivery, body, { type, error: new UnknownType(`no process has a handler for ${what}`) });
  }

  unknownForm(delivery: Delivery, body: Buffer, error: UnknownBodyForm): Outcome {
    return this.#putOff(delivery, body, { form: error.form, error });
  }

  /** Puts a message off, or dead-letters it once `grace` is over. Measures the wait by due times, which come from the store's clock. */
  #putOff(delivery: Delivery, body: Buffer, unknown: Unknown): Outcome {
    const { grace, events, random = Math.random } = this.options;
    const { error, ...what } = unknown;
    const { queue, id } = delivery;
    const dueAt = delivery.dueAt;
    const { since, body: inside } = unwrapPutOff(body);
    const left = (since ?? dueAt) + grace - dueAt;
    if (left <= 0) {
      // As any body that nobody could read, so `maxDeadLetters` never drops it.
      const failure = { ...describeFailure(error), ...('form' in what && { name: 'UnreadableBody' }) };
      return { kind: 'dead', error: JSON.stringify(failure), by: 'unknown-type', body: inside };
    }
    const retryIn = Math.min(Math.round(PAUSE * (0.8 + 0.4 * random())), left);
    events.emit('unknown-type', { queue, id, ...what, retryIn, isFirst: this.#isFirst(JSON.stringify(what)) });
    return { kind: 'defer', delay: retryIn, body: wrapPutOff(inside, since ?? dueAt) };
  }

  #isFirst(what: string): boolean {
    if (this.#reported.has(what) || this.#reported.size >= MAX_TYPES) return false;
    this.#reported.add(what);
    return true;
  }
}

type Unknown = { readonly error: Error } & ({ readonly type: string } | { readonly form: string });
