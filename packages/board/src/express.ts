import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { hostOf } from './access.js';
import { type Answer, CORS_HEADERS, type Exchange, splitUrl, tooLarge } from './exchange.js';
import { badRequest } from './problem.js';

/** The part of Express' request that the board uses; other frameworks with the same kind of middleware may lack most of it. */
export interface ExpressRequest extends IncomingMessage {
  readonly originalUrl?: string;
  readonly body?: unknown;
  readonly secure?: boolean;
  /** Express 5: with the port, and from `X-Forwarded-Host` if the proxy is trusted. */
  readonly host?: string;
}

interface Layer {
  readonly name: string;
}

type Serve = (exchange: Exchange, failure?: unknown) => Promise<void>;

/** The names of the body parsers that Nest adds at startup. */
const PARSERS: readonly string[] = ['jsonParser', 'urlencodedParser'];

/** Mounts the board on Express, or on an adapter whose `use` takes the same middleware. */
export function mountOnExpress(adapter: AbstractHttpAdapter, path: string, serve: Serve): void {
  adapter.use(path, (request: ExpressRequest, response: ServerResponse) => void serve(exchangeOf(request, response)));
  moveBeforeParsers(adapter);
  // A body parser of the application may come first, and fail.
  adapter.use(path, (error: unknown, request: ExpressRequest, response: ServerResponse, next: unknown) => {
    void next;
    const { type, status } = error as { readonly type?: string; readonly status?: number };
    const isOfBody = /^(entity\.|(encoding|charset)\.unsupported$)/.test(type ?? '');
    const problem = status === 413 ? tooLarge() : badRequest('The body cannot be read.');
    void serve(exchangeOf(request, response), isOfBody ? problem : error);
  });
}

/**
 * Moves the board before the body parsers that Nest has just added, whose limits and errors are the application's. What the application itself
 * has added stays before the board.
 */
function moveBeforeParsers(adapter: AbstractHttpAdapter): void {
  const { router } = adapter.getInstance<{ router?: { stack?: Layer[] } }>();
  const stack = router?.stack;
  if (!stack) return;
  const board = stack.pop()!;
  let at = stack.length;
  while (at > 0 && PARSERS.includes(stack[at - 1]!.name)) at--;
  stack.splice(at, 0, board);
}

function exchangeOf(request: ExpressRequest, response: ServerResponse): Exchange {
  // Express has removed the board's own path, and leaves a slash if nothing remains.
  const { path, query } = splitUrl(request.url ?? '/');
  const original = splitUrl(request.originalUrl ?? request.url ?? '/').path;
  return {
    request,
    response,
    raw: request,
    path: path === '/' && !original.endsWith('/') ? '' : path,
    query,
    isSecure: request.secure ?? Boolean((request.socket as TLSSocket).encrypted),
    host: request.host ?? hostOf(request),
    get isAnswered() {
      return response.headersSent;
    },
    parsedBody: request.body,
    send(answer: Answer) {
      prepare(response, answer.headers);
      response.statusCode = answer.status;
      response.end(request.method === 'HEAD' ? undefined : answer.body);
    },
    stream(headers) {
      prepare(response, headers);
      response.flushHeaders();
      return response;
    },
  };
}

function prepare(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const name of CORS_HEADERS) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
