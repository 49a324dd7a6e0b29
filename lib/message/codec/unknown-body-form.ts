import { DelayQueueError } from '../delay-queue-errors.js';

/** A body in a form that this process cannot read. Another one may: during a rolling deploy a newer one is running already. */
export class UnknownBodyForm extends DelayQueueError {
  constructor(
    readonly form: string,
    problem = `this version cannot read its form '${form}'; a newer one wrote it`,
  ) {
    super('INVALID_PAYLOAD', `body: ${problem}`);
  }
}
