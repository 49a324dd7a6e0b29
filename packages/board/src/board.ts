import { Logger } from '@nestjs/common';
import { assertLocal, assertSameOrigin } from './access.js';
import { Api } from './api-routes.js';
import type { ApiError, ConfigView } from './api.js';
import type { Call } from './call.js';
import { type Answer, type Exchange, readBody } from './exchange.js';
import type { Guards, RequestKind } from './guards.js';
import type { BoardInstance } from './instances.js';
import type { BoardOptions } from './options.js';
import type { Page } from './page.js';
import { notFound, Problem, problemOf } from './problem.js';
import { findRoute } from './routes.js';

const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

export interface BoardParts {
  readonly options: BoardOptions;
  readonly guards: Guards;
  readonly instances: ReadonlyMap<string, BoardInstance>;
  readonly page: Page;
  readonly version: string;
}

/** Answers the requests to the board. */
export class Board {
  readonly #logger = new Logger('DelayQueueBoard');
  readonly #api: Api;
  #isClosed = false;

  constructor(private readonly parts: BoardParts) {
    const { options, instances } = parts;
    this.#api = new Api({
      options,
      instances,
      headers: SECURITY_HEADERS,
      config: (exchange) => this.#config(exchange),
    });
  }

  /** From now on, refuses requests. Ends streams and jobs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#api.close();
  }

  /**
   * Answers a request; never rejects.
   * @param failure - what the application did before the board's turn: it could not read the body, for instance
   */
  async serve(exchange: Exchange, failure?: unknown): Promise<void> {
    try {
      if (failure !== undefined) throw failure as Error;
      if (this.#isClosed) throw new Problem(503, 'UNAVAILABLE', 'The application is shutting down.');
      await this.#serve(exchange);
    } catch (error) {
      try {
        this.#refuse(exchange, error);
      } catch (broken) {
        // The connection is gone.
        exchange.raw.destroy(broken as Error);
      }
    }
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { path } = exchange;
    const method = exchange.raw.method === 'HEAD' ? 'GET' : (exchange.raw.method ?? 'GET');
    const isApi = path === '/api' || path.startsWith('/api/');
    const found = isApi ? findRoute(this.#api.routes, method, path.slice('/api'.length)) : undefined;
    await this.#check(exchange, found?.route?.kind ?? kindOf(method, isApi));
    // A guard may have answered by itself, for instance with a redirect.
    if (exchange.isAnswered) return;
    if (!isApi) return this.#servePage(exchange, method);
    if (!found) throw notFound('There is no such part of the API.');
    const { route, params } = found;
    const isHeadOfEvents = route?.kind === 'events' && exchange.raw.method === 'HEAD';
    if (!route || isHeadOfEvents)
      throw new Problem(405, 'METHOD_NOT_ALLOWED', `This part of the API has no method ${exchange.raw.method}.`);
    const call = this.#call(exchange, params);
    if (route.kind === 'change') await this.#checkChange(exchange);
    const result = await route.handle(call);
    if (result !== undefined) this.#send(exchange, jsonAnswer(route.status ?? 200, result));
  }

  async #check(exchange: Exchange, kind: RequestKind): Promise<void> {
    if (this.parts.guards.isEmpty) assertLocal(exchange.raw);
    else await this.parts.guards.check(exchange, kind);
  }

  async #checkChange(exchange: Exchange): Promise<void> {
    assertSameOrigin(exchange);
    if (this.parts.options.readOnly) throw new Problem(403, 'READ_ONLY', 'This board is read-only.');
    if (await this.#mayChange(exchange)) return;
    throw new Problem(403, 'FORBIDDEN', 'You may look at this board, but not change anything.');
  }

  async #mayChange({ request }: Exchange): Promise<boolean> {
    const { readOnly, mayChange } = this.parts.options;
    if (readOnly) return false;
    return mayChange ? (await mayChange(request)) === true : true;
  }

  #call(exchange: Exchange, params: Readonly<Record<string, string>>): Call {
    const name = params.instance;
    const { instances } = this.parts;
    const instance = name === undefined ? [...instances.values()][0] : instances.get(name);
    if (!instance) throw notFound(`There is no instance '${name}' on this board.`);
    return { exchange, params, query: exchange.query, instance, body: () => readBody(exchange) };
  }

  async #config(exchange: Exchange): Promise<ConfigView> {
    const { options, guards, instances, version } = this.parts;
    return {
      instances: [...instances.keys()],
      readOnly: options.readOnly,
      mayChange: await this.#mayChange(exchange),
      isGuarded: !guards.isEmpty,
      version,
      redacted: options.show !== undefined,
    };
  }

  #servePage(exchange: Exchange, method: string): void {
    const { path, raw } = exchange;
    if (method !== 'GET') throw new Problem(405, 'METHOD_NOT_ALLOWED', 'The page can only be read.');
    if (path === '') return this.#redirect(exchange);
    const asset = /^\/assets\/(.+)$/.exec(path)?.[1];
    if (asset === undefined) return this.#send(exchange, this.parts.page.index(path));
    const answer = this.parts.page.asset(asset, /\bgzip\b/.test(String(raw.headers['accept-encoding'] ?? '')));
    if (!answer) throw notFound('There is no such file.');
    this.#send(exchange, answer);
  }

  /** Relative links need the slash. The redirect is relative too, so that it holds behind a proxy that removes a prefix. */
  #redirect(exchange: Exchange): void {
    const last = this.parts.options.path.split('/').at(-1)!;
    const query = String(exchange.query);
    const location = `${last}/${query === '' ? '' : `?${query}`}`;
    this.#send(exchange, { status: 302, headers: { location, 'cache-control': 'no-store' }, body: '' });
  }

  #refuse(exchange: Exchange, error: unknown): void {
    let problem = problemOf(error);
    if (!problem) {
      this.#logger.error('A request to the board has failed', error instanceof Error ? error.stack : String(error));
      problem = new Problem(500, 'INTERNAL', 'The board has failed. The log of the application says why.');
    }
    if (exchange.isAnswered) return;
    const { status, code, message } = problem;
    const body: ApiError = { error: { code, message } };
    const answer = jsonAnswer(status, body);
    // What is left of a body that was not read would be taken for the next request.
    const isUnread = !exchange.raw.readableEnded && exchange.raw.httpVersionMajor < 2;
    this.#send(exchange, isUnread ? { ...answer, headers: { ...answer.headers, connection: 'close' } } : answer);
  }

  #send(exchange: Exchange, answer: Answer): void {
    exchange.send({ ...answer, headers: { ...SECURITY_HEADERS, ...answer.headers } });
  }
}

function kindOf(method: string, isApi: boolean): RequestKind {
  if (!isApi) return 'page';
  return method === 'GET' ? 'read' : 'change';
}

function jsonAnswer(status: number, value: object): Answer {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  return { status, headers, body: JSON.stringify(value) };
}
