import { useCallback, useState } from 'preact/hooks';
import { type ApiError, change } from './client.js';
import { useSession } from './session.js';
import { toApiError } from './use-read.js';

export interface Change {
  readonly isRunning: boolean;
  readonly error: ApiError | undefined;
  /** Sends a change. Resolves with its answer, or with undefined if it failed. */
  readonly run: <Answer>(segments: readonly string[], body?: object) => Promise<Answer | undefined>;
  readonly forget: () => void;
}

/** Sends changes, one at a time, and keeps the last one's error. */
export function useChange(): Change {
  const { report } = useSession();
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<ApiError>();
  const run = useCallback(
    async <Answer>(segments: readonly string[], body?: object) => {
      setRunning(true);
      setError(undefined);
      try {
        return await change<Answer>('POST', segments, body);
      } catch (thrown) {
        const failure = toApiError(thrown);
        // 403 may only mean that this change is not allowed.
        if (failure.status !== 403) report(failure);
        setError(failure);
        return undefined;
      } finally {
        setRunning(false);
      }
    },
    [report],
  );
  const forget = useCallback(() => setError(undefined), []);
  return { isRunning, error, run, forget };
}
