import type { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.js';
import { Problem } from './problem.js';

const FORWARDED =
  /^(forwarded|via|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-connecting-ip|x-forwarded(-.*)?)$/;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** The header that every change carries. Other sites cannot send it without CORS. */
export const CHANGE_HEADER = 'x-delay-queue-board';

/**
 * Refuses requests that do not come from this machine: by the socket's address, by the Host, which another site's name cannot be made to look
 * like, and without a proxy in between.
 */
export function assertLocal(raw: IncomingMessage): void {
  const isLocal =
    LOOPBACK.test(raw.socket.remoteAddress ?? '') &&
    LOCAL_HOST.test(hostOf(raw) ?? '') &&
    !Object.keys(raw.headers).some((name) => FORWARDED.test(name));
  if (isLocal) return;
  const problem =
    'This board has no guards, so it serves requests from its own machine only, and none that were forwarded.';
  throw new Problem(403, 'LOCAL_ONLY', `${problem} Give DelayQueueBoardModule.forRoot() \`guards\`.`);
}

/** HTTP/2 has `:authority` instead of a Host. */
export function hostOf({ headers }: IncomingMessage): string | undefined {
  const authority = headers[':authority'];
  return headers.host ?? (typeof authority === 'string' ? authority : undefined);
}

/** Refuses a change that another site may have caused. */
export function assertSameOrigin(exchange: Exchange): void {
  const { headers } = exchange.raw;
  if (headers[CHANGE_HEADER] !== '1') throw foreign("it lacks the header 'X-Delay-Queue-Board: 1'");
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') throw foreign(`the browser says that it is ${String(site)}`);
  const { origin } = headers;
  if (origin === undefined) throw foreign('it has no Origin');
  if (isOwnOrigin(origin, exchange)) return;
  throw foreign(
    "its Origin differs from the Host that it was sent to: behind a proxy, keep the Host, or have the application trust the proxy's X-Forwarded-Host",
  );
}

/**
 * True for an origin with the request's own host. Its protocol is the request's own, or HTTPS, which a proxy may have ended. A page on plain HTTP
 * cannot change a board on HTTPS.
 */
function isOwnOrigin(origin: string, { host, isSecure }: Exchange): boolean {
  const [, protocol] = /^(https?):\/\//.exec(origin) ?? [];
  if (protocol === undefined || !host || (protocol === 'http' && isSecure)) return false;
  try {
    return new URL(origin).origin === new URL(`${protocol}://${host}`).origin;
  } catch {
    return false;
  }
}

function foreign(reason: string): Problem {
  return new Problem(403, 'FOREIGN_ORIGIN', `The change was refused, because ${reason}.`);
}
