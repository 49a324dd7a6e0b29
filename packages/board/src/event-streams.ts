import type { ServerResponse } from 'node:http';
import type { Exchange } from './exchange.js';
import { Problem } from './problem.js';

/** The maximum number of streams of one board in this process. */
const MAX_STREAMS = 100;
/** So that proxies do not take the connection for dead. */
const HEARTBEAT = 15_000;
/** A client that is so far behind gets no further events, and is dropped if it is still behind at the next heartbeat. */
const MAX_BEHIND = 64 * 1024;
/** Browsers connect again by themselves, and so pass the guards again: a session that ended ends the stream. */
const LIFETIME = 60_000;
const RECONNECT = 1000;
/** A client that does not read the rest of an ended stream in this time is dropped: it would keep its connection open. */
const FLUSH_TIME = 2000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // Tells nginx not to collect the events.
  'x-accel-buffering': 'no',
};

/** An open stream of server-sent events. */
export class EventStream {
  readonly #listeners: (() => void)[] = [];
  #hasEnded = false;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #end: NodeJS.Timeout;

  constructor(private readonly response: ServerResponse) {
    response.write(`retry: ${RECONNECT}\n\n`);
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT).unref();
    this.#end = setTimeout(() => this.end(), LIFETIME).unref();
    response.once('close', () => this.#ended());
    response.on('error', () => this.#ended());
  }

  /** True if the client does not keep up: it should get no further events for now. */
  get isBehind(): boolean {
    return this.response.writableLength > MAX_BEHIND;
  }

  /** Calls back once the stream has ended. */
  onEnd(listener: () => void): void {
    this.#listeners.push(listener);
  }

  send(event: string, data: object | readonly object[]): void {
    if (!this.#hasEnded) this.response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  end(): void {
    if (this.#hasEnded) return;
    this.response.end();
    const drop = setTimeout(() => this.response.destroy(), FLUSH_TIME).unref();
    this.response.once('close', () => clearTimeout(drop));
    this.#ended();
  }

  #beat(): void {
    if (this.isBehind) this.response.destroy();
    else this.response.write(':\n\n');
  }

  #ended(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#end);
    for (const listener of this.#listeners) listener();
  }
}

/** The open streams of a board. */
export class EventStreams {
  readonly #open = new Set<EventStream>();

  constructor(private readonly headers: Readonly<Record<string, string>>) {}

  open(exchange: Exchange): EventStream {
    if (this.#open.size >= MAX_STREAMS) {
      throw new Problem(
        503,
        'TOO_MANY',
        `The board has ${MAX_STREAMS} open streams of events already. Try again later.`,
      );
    }
    const stream = new EventStream(exchange.stream({ ...this.headers, ...HEADERS }));
    this.#open.add(stream);
    stream.onEnd(() => this.#open.delete(stream));
    return stream;
  }

  /** Ends all streams: an open one would hold up the end of the application. */
  close(): void {
    for (const stream of [...this.#open]) stream.end();
  }
}
