import { DelayQueueError } from '../delay-queue-errors.js';

/** A body in a form that this version cannot read. A newer one may: during a rolling deploy it is running already. */
export class UnknownBodyForm extends DelayQueueError {
  constructor(readonly form: string) {
    super('INVALID_PAYLOAD', `body: this version cannot read its form '${form}'; a newer one wrote it`);
  }
}
