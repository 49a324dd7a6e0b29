import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ConfigView } from '../../src/api.js';
import type { ApiError } from './client.js';

/** How the board reaches its application and that its Redis. */
export type Connection = 'live' | 'redis away' | 'no answer' | 'ended';

export interface Session {
  readonly config: ConfigView;
  readonly connection: Connection;
  /** True if this viewer may change messages and queues. */
  readonly mayChange: boolean;
  /** Takes note of how a request ended: with an answer, or with an error. */
  readonly report: (error: ApiError | null) => void;
  /** Shows what a change has done, and has it read out. */
  readonly say: (text: string) => void;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('There is no session above this component.');
  return session;
}

/** Derives the state of the connection from the way a read has ended; null if that tells nothing about it. */
export function connectionAfter(error: ApiError | null): Connection | null {
  if (error === null) return 'live';
  if (error.status === 401 || error.status === 403) return 'ended';
  if (error.status === 503) return 'redis away';
  return error.isPassing ? 'no answer' : null;
}
