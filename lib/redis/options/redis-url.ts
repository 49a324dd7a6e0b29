const UNREADABLE =
  'is not a valid URL: percent-encode special characters in the user name and the password, such as # as %23, ' +
  '/ as %2F, @ as %40 and % as %25, and use a port from 1 to 65535';

const UNSET = 'is no URL: is an environment variable that it is made of not set?';

/** The host, the port or the database, but not the password, is the text of a variable that is not set. */
const UNSET_PART = /^rediss?:\/\/(.*@)?([^/@]*[:/])?undefined($|[:/?])/;

/** A password in a query would be cut at its first '&', and the rest would show up in an error as an unknown option. */
const PASSWORD_IN_QUERY =
  'must have the password before the host, percent-encoded: redis://user:password@host, or be given as options';

/**
 * Reads `redis[s]://user:password@host:port/db?option=value`; the rest of the URL overrides the query.
 *
 * @returns the options, as text; or the problem, which does not quote the URL, because it contains a password
 */
export function parseRedisUrl(text: string): { readonly options: object } | { readonly problem: string } {
  if (text === '' || text === 'undefined') return { problem: UNSET };
  if (!/^rediss?:\/\//.test(text)) {
    return { problem: 'must start with redis:// or rediss://, as in redis://127.0.0.1:6379' };
  }
  if (UNSET_PART.test(text)) return { problem: UNSET };
  let url: URL;
  let username: string, password: string, host: string;
  try {
    url = new URL(text);
    username = decodeURIComponent(url.username);
    password = decodeURIComponent(url.password);
    host = decodeURIComponent(url.hostname);
  } catch {
    return { problem: UNREADABLE };
  }
  if ([...url.searchParams.keys()].some((name) => /pass/i.test(name))) return { problem: PASSWORD_IN_QUERY };
  // The rest of a password that was cut at its '/', '?' or '#'; it would show up in an error as an unknown option.
  if (url.hash !== '' || (url.pathname + url.search).includes('@')) return { problem: UNREADABLE };
  const options = {
    ...Object.fromEntries(url.searchParams),
    ...(url.protocol === 'rediss:' && { tls: {} }),
    ...((username || password) && { username, password }),
    ...(host && { host: host.replace(/^\[|\]$/g, '') }),
    ...(url.port && { port: url.port }),
    ...(url.pathname.length > 1 && { db: url.pathname.slice(1) }),
  };
  return { options };
}
