/** The options in a URL, as text; or what is wrong with it, in words without the URL: it holds a password. */
export type ParsedUrl = { readonly options: Readonly<Record<string, unknown>> } | { readonly problem: string };

const UNREADABLE =
  'is no URL that can be read: percent-encode what is special in the user name and the password, such as # as %23, ' +
  '/ as %2F, @ as %40 and % as %25, and give a port from 1 to 65535';

/** Cut off at its '&', the rest of it would show as a name that nobody knows. */
const PASSWORD_IN_QUERY =
  'must have the password before the host, percent-encoded: redis://user:password@host, or be given as options';

/** Reads `redis[s]://user:password@host:port/db?option=value`; what the query says holds where nothing before it says it. */
export function parseRedisUrl(text: string): ParsedUrl {
  if (!/^rediss?:\/\//.test(text)) return { problem: 'must start with redis:// or rediss://' };
  let url: URL;
  let username: string, password: string, host: string;
  try {
    url = new URL(text);
    [username, password, host] = [url.username, url.password, url.hostname].map(decodeURIComponent) as [
      string,
      string,
      string,
    ];
  } catch {
    return { problem: UNREADABLE };
  }
  if ([...url.searchParams.keys()].some((name) => /pass/i.test(name))) return { problem: PASSWORD_IN_QUERY };
  // A part of a password that was cut off at its '/', '?' or '#': read on, it would show as a name that nobody knows.
  if (url.hash !== '' || (url.pathname + url.search).includes('@')) return { problem: UNREADABLE };
  return {
    options: {
      ...Object.fromEntries(url.searchParams),
      ...(url.protocol === 'rediss:' && { tls: {} }),
      ...((username || password) && { username, password }),
      ...(host && { host: host.replace(/^\[|\]$/g, '') }),
      ...(url.port && { port: url.port }),
      ...(url.pathname.length > 1 && { db: url.pathname.slice(1) }),
    },
  };
}
