/** A message as the board tells of it. */
export interface BoardJob {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
  readonly opts: { readonly delay: number; readonly headers?: object };
  readonly timestamp: number;
  readonly delay: number;
  readonly attempts: number;
  readonly failedReason: string;
  readonly stacktrace: readonly string[];
  readonly processedOn?: number;
  readonly finishedOn?: number;
}

/** A queue as the board tells of it. */
export interface QueueOnBoard {
  readonly name: string;
  readonly displayName?: string;
  readonly readOnlyMode: boolean;
  readonly statuses: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly jobs: readonly BoardJob[];
  readonly pagination: { readonly pageCount: number };
  readonly isPaused: boolean;
}

export interface BoardAnswer<Body = BoardProblem> {
  readonly status: number;
  readonly body: Body;
}

/** The board's answer if it does nothing: a headline for translators, and the text of an error. */
export interface BoardProblem {
  readonly error: { readonly key: string };
  readonly message: unknown;
}

/** Which jobs of a queue the board shows. */
interface Shown {
  readonly status?: string;
  readonly page?: number;
  readonly jobsPerPage?: number;
}

/** Asks bull-board what its page asks. */
export class BoardClient {
  constructor(readonly url: string) {}

  async queues(query: Readonly<Record<string, string>> = {}): Promise<readonly QueueOnBoard[]> {
    const search = String(new URLSearchParams({ ...query }));
    const { body } = await this.#ask<{ queues: QueueOnBoard[] }>('GET', `queues?${search}`);
    return body.queues;
  }

  async queue(name: string, { status = 'latest', page = 1, jobsPerPage = 10 }: Shown = {}): Promise<QueueOnBoard> {
    const query = { activeQueue: name, status, page: String(page), jobsPerPage: String(jobsPerPage) };
    const found = (await this.queues(query)).find((queue) => queue.name === name);
    if (!found) throw new Error(`The board does not show queue '${name}'.`);
    return found;
  }

  /** The ids of the jobs that a tab of the board lists. */
  async ids(name: string, shown?: Shown): Promise<string[]> {
    return (await this.queue(name, shown)).jobs.map(({ id }) => id);
  }

  get<Body>(path: string): Promise<BoardAnswer<Body>> {
    return this.#ask('GET', `queues/${path}`);
  }

  put(path: string, body: object = {}): Promise<BoardAnswer> {
    return this.#ask('PUT', `queues/${path}`, body);
  }

  patch(path: string, body: object): Promise<BoardAnswer> {
    return this.#ask('PATCH', `queues/${path}`, body);
  }

  add(name: string, body: object): Promise<BoardAnswer<{ job: BoardJob; status: string } & BoardProblem>> {
    return this.#ask('POST', `queues/${name}/add`, body);
  }

  async #ask<Body>(method: string, path: string, body?: object): Promise<BoardAnswer<Body>> {
    const json = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    // A connection kept alive would outlive the test.
    const headers = { connection: 'close', ...json?.headers };
    const response = await fetch(`${this.url}/api/${path}`, { method, ...json, headers });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Body };
  }
}
