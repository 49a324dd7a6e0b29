import { DelayQueueError } from 'nestjs-delay-queue';
import { recognizeAcrossCopies } from 'nestjs-delay-queue/layouts';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * A number with its text, such as `12.50`, where a number of JavaScript would be printed as another text. With `json({ numbers: 'exact' })`
 * such numbers arrive as these; they can always be offered.
 * @example
 * ```ts
 * await producer.offer('orders', { price: new JsonNumber('12.50') }, '30m');
 * ```
 */
export class JsonNumber {
  /** The number as JSON has it. */
  readonly text: string;

  /**
   * @param text - the number as JSON has it
   * @throws DelayQueueError `INVALID_PAYLOAD` if JSON has no such number
   */
  constructor(text: string) {
    if (typeof text !== 'string' || !NUMBER.test(text)) {
      throw new DelayQueueError('INVALID_PAYLOAD', 'payload: a JsonNumber must be the text of a number in JSON');
    }
    this.text = text;
  }

  /** The nearest number, so that it can be compared and calculated with. */
  valueOf(): number {
    return Number(this.text);
  }

  /** The number as JSON has it. */
  toString(): string {
    return this.text;
  }

  /** The nearest number. */
  toJSON(): number {
    return Number(this.text);
  }
}

recognizeAcrossCopies(JsonNumber, 'JsonNumber');
