import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

export interface ApiAnswer<Body> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined if it is none. */
  readonly body: Body;
}

export interface ApiRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** One event of a stream. */
export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Asks a board what its page asks. Not `fetch`, which chooses some headers itself. */
export class PageClient {
  /** @param url - of the board, without a slash at its end */
  constructor(
    readonly url: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  get origin(): string {
    return new URL(this.url).origin;
  }

  /** A client that sends more headers, such as those of a session. */
  with(headers: Readonly<Record<string, string>>): PageClient {
    return new PageClient(this.url, { ...this.headers, ...headers });
  }

  get<Body = unknown>(path: string): Promise<ApiAnswer<Body>> {
    return this.send(`/api/${path}`);
  }

  /** Makes a change as the page does. */
  post<Body = unknown>(path: string, body?: unknown, method = 'POST'): Promise<ApiAnswer<Body>> {
    return this.send(`/api/${path}`, { method, body, headers: { origin: this.origin, 'x-delay-queue-board': '1' } });
  }

  async send<Body = unknown>(
    path: string,
    { method = 'GET', headers = {}, body }: ApiRequest = {},
  ): Promise<ApiAnswer<Body>> {
    const json = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const sent = this.#request(path, method, {
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    });
    const response = await answerTo(sent, json);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const isJson = response.headers['content-type']?.startsWith('application/json');
    return {
      status: response.statusCode!,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as Body,
    };
  }

  /** Opens a stream of events. */
  async events(path: string): Promise<EventReader> {
    const sent = this.#request(`/api/${path}`, 'GET', { accept: 'text/event-stream' });
    return new EventReader(sent, await answerTo(sent));
  }

  #request(path: string, method: string, headers: Readonly<Record<string, string>>): ClientRequest {
    // A connection kept alive would outlive the test.
    return request(`${this.url}${path}`, { method, agent: false, headers: { ...this.headers, ...headers } });
  }
}

/** The events of one stream. */
export class EventReader {
  readonly events: ServerEvent[] = [];
  /** Resolves once the server has ended the stream. */
  readonly ended: Promise<void>;

  constructor(
    private readonly sent: ClientRequest,
    readonly response: IncomingMessage,
  ) {
    let text = '';
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const parts = text.split('\n\n');
      text = parts.pop()!;
      for (const part of parts) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? [];
        if (event !== undefined) this.events.push({ event, data: JSON.parse(data!) });
      }
    });
    this.ended = new Promise((resolve) => response.once('close', resolve));
    response.on('error', () => undefined);
  }

  close(): void {
    this.sent.destroy();
  }
}

function answerTo(sent: ClientRequest, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
    sent.end(body);
  });
}
