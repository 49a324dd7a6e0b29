const NO_TLS =
  'if the server speaks no TLS on this port, use redis:// instead of rediss://, or leave out `tls` in `connection`';
const TLS = 'if the server expects TLS on this port, use rediss:// instead of redis://, or set `tls` in `connection`';
const AUTHORITY = 'if its certificate is of an authority of your own, give that as `tls: { ca }` in `connection`';
const NAMES = 'set `tls: { servername }` in `connection` to a name in the certificate, or connect by such a name';

const WITH_TLS: readonly (readonly [RegExp, string])[] = [
  [/^(ETIMEDOUT|ECONNRESET|EPROTO|ERR_SSL_.*)$/, NO_TLS],
  [/SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/, AUTHORITY],
  [/ALTNAME_INVALID/, NAMES],
];

/**
 * Says what probably is wrong with the options of a connection that has never been ready.
 *
 * @param error - what the last attempt ended with
 * @returns undefined if the error says it by itself
 */
export function adviceOnConnecting(error: unknown, usesTls: boolean): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  // A server closes a connection on which it expects TLS, or resets it.
  if (!usesTls) return code === 'ECONNRESET' || code === 'EPIPE' ? TLS : undefined;
  return WITH_TLS.find(([codes]) => codes.test(String(code)))?.[1];
}

/** The error of a connection that the other side closes without one. */
export function closedEarly(): Error {
  return Object.assign(new Error('the connection was closed before it was ready'), { code: 'ECONNRESET' });
}

/** The error of a connection whose TLS handshake the server does not answer. */
export function unansweredHandshake(): Error {
  return Object.assign(new Error('no answer to the TLS handshake'), { code: 'ETIMEDOUT' });
}
