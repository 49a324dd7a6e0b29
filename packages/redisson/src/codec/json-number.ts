import { DelayQueueError } from 'nestjs-delay-queue';
import { recognizeAcrossCopies } from 'nestjs-delay-queue/layouts';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * A number with its text, such as `12.50`, where JavaScript would print another text. With `json({ numbers: 'exact' })` such numbers arrive
 * in this form. They can always be offered.
 * @example
 * ```ts
 * await producer.offer('orders', { price: new JsonNumber('12.50') }, '30m');
 * ```
 */
export class JsonNumber {
  /** The number as JSON text. */
  readonly text: string;

  /**
   * @param text - the number as JSON text
   * @throws DelayQueueError `INVALID_PAYLOAD` if JSON has no such number
   */
  constructor(text: string) {
    if (typeof text !== 'string' || !NUMBER.test(text)) {
      throw new DelayQueueError('INVALID_PAYLOAD', 'payload: a JsonNumber must be the text of a JSON number');
    }
    this.text = text;
  }

  /** The nearest number, for comparisons and calculations. */
  valueOf(): number {
    return Number(this.text);
  }

  /** The number as JSON text. */
  toString(): string {
    return this.text;
  }

  /** The nearest number. */
  toJSON(): number {
    return Number(this.text);
  }
}

recognizeAcrossCopies(JsonNumber, 'JsonNumber');
