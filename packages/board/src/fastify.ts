import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { hostOf } from './access.js';
import { CORS_HEADERS, type Exchange, splitUrl } from './exchange.js';

/** The part of Fastify that the board uses, so that its types are needed only by those who have it. */
interface FastifyScope {
  register(plugin: (scope: FastifyScope, options: object, done: () => void) => void): void;
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parser: (request: object, payload: object, done: (error: null) => void) => void,
  ): void;
  setErrorHandler(handler: (error: unknown, request: FastifyRequest, reply: FastifyReply) => unknown): void;
  route(options: object): void;
}

interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly url: string;
  readonly protocol: string;
  readonly host?: string;
  readonly body?: unknown;
}

interface FastifyReply {
  readonly raw: ServerResponse;
  readonly sent: boolean;
  code(status: number): FastifyReply;
  headers(headers: object): FastifyReply;
  getHeaders(): Record<string, number | string | string[] | undefined>;
  removeHeader(name: string): FastifyReply;
  send(body: unknown): FastifyReply;
  hijack(): FastifyReply;
}

type Serve = (exchange: Exchange, failure?: unknown) => Promise<void>;

/** Mounts the board as routes of Fastify, so that the application's hooks run, such as those of cookies and sessions. */
export function mountOnFastify(adapter: AbstractHttpAdapter, path: string, serve: Serve): void {
  adapter.getInstance<FastifyScope>().register((scope, _, done) => {
    // The board reads bodies itself, after the guards.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    const handle = async (request: FastifyRequest, reply: FastifyReply, failure?: unknown) => {
      await serve(exchangeOf(request, reply, path), failure);
      return reply;
    };
    scope.setErrorHandler((error, request, reply) => handle(request, reply, error));
    for (const url of [path, `${path}/*`]) {
      scope.route({
        method: ['GET', 'HEAD', 'POST', 'DELETE'],
        exposeHeadRoute: false,
        url,
        handler: (request: FastifyRequest, reply: FastifyReply) => handle(request, reply),
      });
    }
    done();
  });
}

function exchangeOf(request: FastifyRequest, reply: FastifyReply, own: string): Exchange {
  const { path, query } = splitUrl(request.url);
  const prepare = (headers: object) => {
    for (const name of CORS_HEADERS) reply.removeHeader(name);
    reply.headers(headers);
  };
  return {
    request,
    response: reply,
    raw: request.raw,
    path: path.slice(own.length),
    query,
    isSecure: request.protocol === 'https',
    host: request.host ?? hostOf(request.raw),
    get isAnswered() {
      return reply.sent || reply.raw.headersSent;
    },
    parsedBody: request.body,
    send(answer) {
      prepare(answer.headers);
      reply.code(answer.status).send(answer.body);
    },
    stream(headers) {
      prepare(headers);
      reply.hijack();
      reply.raw.writeHead(200, reply.getHeaders() as Record<string, string>);
      return reply.raw;
    },
  };
}
