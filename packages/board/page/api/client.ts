import { BASE } from '../base-path.js';
import { setServerTime } from '../parts/clock.js';

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** Why a request failed. */
export class ApiError extends Error {
  constructor(
    /** The HTTP status; 0 if there was no answer. */
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }

  /** True if neither the application nor its Redis is to blame for longer than it is away. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

/** Builds the address of a call: segments are encoded, parameters without a value are left out. */
export function apiUrl(segments: readonly string[], parameters: Parameters = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  const path = segments.map(encodeURIComponent).join('/');
  return `${BASE}/api/${path}${search.size > 0 ? `?${search}` : ''}`;
}

export function read<Answer>(url: string, signal?: AbortSignal): Promise<Answer> {
  return call<Answer>(url, { headers: { Accept: 'application/json' }, signal: signal ?? null });
}

export function change<Answer>(method: 'POST' | 'DELETE', segments: readonly string[], body?: object): Promise<Answer> {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json', 'X-Delay-Queue-Board': '1' };
  return call<Answer>(apiUrl(segments), {
    method,
    headers,
    body: method === 'POST' ? JSON.stringify(body ?? {}) : null,
  });
}

async function call<Answer>(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { credentials: 'same-origin', ...init }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'UNREACHABLE', 'The application does not answer.');
  });
  const body = await readJson(response);
  if (!response.ok) throw problemOf(response.status, body);
  // A guard that redirects to a login page ends here: fetch has followed it.
  if (body === undefined) throw new ApiError(401, 'SESSION_ENDED', 'The answer did not come from the board.');
  setServerTime(body);
  return body as Answer;
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return (await response.json()) as unknown;
  } catch {
    return undefined;
  }
}

function problemOf(status: number, body: unknown): ApiError {
  const { error } = (body ?? {}) as { error?: { code?: unknown; message?: unknown } };
  const code = typeof error?.code === 'string' ? error.code : 'FAILED';
  const message =
    typeof error?.message === 'string' ? error.message : `The application answered with status ${status}.`;
  return new ApiError(status, code, message);
}
