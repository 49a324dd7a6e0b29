import type { Call } from './call.js';
import type { RequestKind } from './guards.js';
import { badRequest } from './problem.js';

/** A part of the API. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/api`, such as `/i/:instance/queues/:queue`. */
  readonly path: string;
  readonly kind: Exclude<RequestKind, 'page'>;
  /** Returns the body of the answer; undefined if it has answered by itself. */
  readonly handle: (call: Call) => object | undefined | Promise<object | undefined>;
  /** Default: 200. */
  readonly status?: number;
}

interface FoundRoute {
  /** Undefined if the path exists with other methods. */
  readonly route: Route | undefined;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the route of a path. */
export function findRoute(routes: readonly Route[], method: string, path: string): FoundRoute | undefined {
  const segments = path.split('/');
  let other: FoundRoute | undefined;
  for (const route of routes) {
    const params = match(route.path.split('/'), segments);
    if (!params) continue;
    if (route.method === method) return { route, params };
    other = { route: undefined, params };
  }
  return other;
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, part] of pattern.entries()) {
    const segment = segments[i]!;
    if (part.startsWith(':')) params[part.slice(1)] = decode(segment);
    else if (part !== segment) return undefined;
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest('The path cannot be decoded.');
  }
}
