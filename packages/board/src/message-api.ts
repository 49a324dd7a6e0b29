import type {
  ChangeBody,
  ChangedView,
  HandledListView,
  HandledView,
  MessageListView,
  MessageView,
  RescheduleBody,
} from './api.js';
import type { Audit } from './audit.js';
import { type Call, readDue, readNumber, readObject, readQuery } from './call.js';
import { FILTER_PARAMETERS, filterOf, readFilter } from './filters.js';
import type { MessageViews } from './message-views.js';
import { badRequest, notFound, Problem } from './problem.js';

type Action = 'deliver' | 'reschedule' | 'change' | 'cancel' | 'abort' | 'redrive' | 'discard';

/** The part of the API about single messages. */
export class MessageApi {
  constructor(
    private readonly views: MessageViews,
    private readonly audit: Audit,
    private readonly isRedacted: boolean,
  ) {}

  /** `GET …/messages` */
  async list({ query, instance, params }: Call): Promise<MessageListView> {
    const { cursor, limit, ...filter } = readQuery(query, ['cursor', 'limit', ...FILTER_PARAMETERS]);
    const page = await instance.producer.search(params.queue!, readFilter(filterOf(filter), this.isRedacted), {
      limit: limit === undefined ? 100 : readNumber(limit, 'limit', [1, 1000]),
      ...(cursor !== undefined && { cursor }),
    });
    const messages = page.messages.map((message) => this.views.row(message));
    const { examined, encrypted, missing } = page;
    const notes = { ...(encrypted && { encrypted }), ...(missing && { missing }) };
    return { messages, cursor: page.cursor, examined, ...notes };
  }

  /** `GET …/messages/:id` */
  async get({ query, instance, params }: Call): Promise<MessageView> {
    readQuery(query, []);
    const message = await instance.producer.find(params.queue!, params.id!);
    if (message) return this.views.view(message);
    throw notFound(`There is no message '${params.id}' in queue '${params.queue}'.`);
  }

  /** `GET …/handled` */
  async listHandled({ query, instance, params }: Call): Promise<HandledListView> {
    const { cursor, limit } = readQuery(query, ['cursor', 'limit']);
    const page = await instance.producer.list(params.queue!, 'handled', {
      limit: limit === undefined ? 100 : readNumber(limit, 'limit', [1, 1000]),
      ...(cursor !== undefined && { cursor }),
    });
    const messages = page.messages.map((message) => this.views.handledRow(message));
    const { missing } = page;
    return { messages, cursor: page.cursor, examined: messages.length, ...(missing && { missing }) };
  }

  /** `GET …/handled/:id` */
  async getHandled({ query, instance, params }: Call): Promise<HandledView> {
    readQuery(query, []);
    const message = await instance.producer.find(params.queue!, params.id!, { handled: true });
    if (message?.state === 'handled') return this.views.handled(message);
    throw notFound(`Queue '${params.queue}' remembers no handled message '${params.id}'.`);
  }

  /** Returns the handler of `POST …/messages/:id/{action}`. */
  act(action: Action): (call: Call) => Promise<ChangedView> {
    return async (call) => {
      const body = await call.body();
      const changed = await this.audit.one(call, { action, ids: [call.params.id!] }, async () => {
        return (await this.#change(action, call, body)) ? 1 : 0;
      });
      return { changed: changed > 0 };
    };
  }

  #change(action: Action, { instance, params }: Call, body: unknown): Promise<boolean> {
    const { producer } = instance;
    const [queue, id] = [params.queue!, params.id!];
    switch (action) {
      case 'deliver':
        return producer.reschedule(queue, id, 0);
      case 'reschedule': {
        const { due } = readObject<RescheduleBody>(body, 'The body', ['due']);
        return producer.reschedule(queue, id, readDue(due, 'due'));
      }
      case 'change':
        return this.#edit(instance, { queue, id }, body);
      case 'cancel':
        return producer.cancel(queue, id);
      case 'abort':
        return producer.abort(queue, id);
      case 'redrive':
        return producer.deadLetters(queue).redrive(id);
      case 'discard':
        return producer.deadLetters(queue).discard(id);
    }
  }

  async #edit({ producer, typed }: Call['instance'], { queue, id }: { queue: string; id: string }, body: unknown) {
    const given = readObject<ChangeBody>(body, 'The body', ['due', 'payload', 'headers', 'type']);
    const { due, ...change } = given;
    if (this.isRedacted && ('payload' in change || 'headers' in change)) {
      // Whoever edits what is shown would write it over what is hidden.
      throw new Problem(400, 'REDACTED', 'Payloads and headers cannot be changed on a board with the option `show`.');
    }
    if (Object.keys(given).length === 0) throw badRequest('The body must have one of due, payload, headers, type.');
    const before = await producer.find(queue, id);
    if (before?.state !== 'delayed') return false;
    if ('payload' in change && before.payload instanceof Uint8Array) {
      throw badRequest('A payload of bytes cannot be changed here.');
    }
    const dueTime = due === undefined ? before.dueAt : readDue(due, 'due');
    if (Object.keys(change).length === 0) return producer.reschedule(queue, id, dueTime);
    const handle = typed.get(queue);
    if (!handle) return producer.reschedule(queue, id, dueTime, change);
    // A typed queue needs the type, to know which schema checks the payload.
    return handle.reschedule(id, dueTime, { ...(before.type && { type: before.type }), ...change });
  }
}
