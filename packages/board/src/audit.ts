import { Logger } from '@nestjs/common';
import type { Call } from './call.js';
import type { BoardChange, BoardOptions } from './options.js';

type Change = Pick<BoardChange, 'action' | 'ids' | 'filter' | 'group' | 'concurrency'>;

/** Says for each change who made it: in the log, and to the application's `onChange`. */
export class Audit {
  readonly #logger = new Logger('DelayQueueBoard');

  constructor(private readonly options: Pick<BoardOptions, 'who' | 'onChange'>) {}

  /** Returns the name of a request's sender. If it cannot be found out, there is no change. */
  async who({ exchange }: Pick<Call, 'exchange'>): Promise<string | undefined> {
    return this.options.who?.(exchange.request);
  }

  /**
   * Makes a change and reports it.
   * @param make - returns the number of messages changed
   */
  async one(call: Call, change: Change, make: () => Promise<number>): Promise<number> {
    const who = await this.who(call);
    const subject = { who, ...change, instance: call.instance.name, queue: call.params.queue! };
    try {
      const count = await make();
      this.report({ ...subject, count, at: new Date() });
      return count;
    } catch (error) {
      if (mayBeDone(error)) {
        this.report({ ...subject, count: 0, error: (error as Error).message, at: new Date() });
      }
      throw error;
    }
  }

  /** Logs that a job has begun, which is reported with the number of messages once it has ended. */
  begin(change: Omit<BoardChange, 'count' | 'at'>, job: string): void {
    this.#logger.log(`${inWords(change)}: begun as job ${job}`);
  }

  /** Reports a change. Never fails, because the change is made. */
  report(change: BoardChange): void {
    const { count, error } = change;
    const failure = error === undefined ? '' : `, and failed: ${JSON.stringify(error)}`;
    this.#logger.log(`${inWords(change)}: ${count} changed${failure}`);
    const { onChange } = this.options;
    if (!onChange) return;
    void (async () => onChange(change))().catch((error: unknown) => {
      this.#logger.error('onChange has failed', error instanceof Error ? error.stack : String(error));
    });
  }
}

/** True if a change that failed may have been made all the same. */
function mayBeDone(error: unknown): boolean {
  const { code } = error as { readonly code?: string };
  return code === 'OUTCOME_UNKNOWN' || code === 'NOT_REPLICATED';
}

const MAX_IDS = 10;

function inWords(change: Omit<BoardChange, 'count' | 'at'>): string {
  const { who, action, instance, queue, ids, filter, group, concurrency } = change;
  const place = instance === '-' ? `queue ${queue}` : `queue ${queue} of instance ${instance}`;
  // JSON, because ids and names come from others: none of them can begin a new line of the log.
  const rest = ids && ids.length > MAX_IDS ? ` and ${ids.length - MAX_IDS} more` : '';
  const named = ids ? ` ${JSON.stringify(ids.slice(0, MAX_IDS))}${rest}` : '';
  const matching = filter ? ` all that match ${JSON.stringify(filter)}` : '';
  const ofGroup = group === undefined ? '' : ` ${JSON.stringify(group)}`;
  const value = concurrency === undefined ? '' : ` to ${concurrency}`;
  return `${JSON.stringify(who ?? 'somebody')}: ${action}${named}${matching}${ofGroup}${value} in ${place}`;
}
