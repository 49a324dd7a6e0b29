import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, read } from './client.js';
import { useSession } from './session.js';

/** Time between two attempts while the application or its Redis is away. */
const RETRY_AFTER = 2000;

export interface Reading<Answer> {
  /** The last answer, also while the next one is awaited or fails. */
  readonly data: Answer | undefined;
  readonly error: ApiError | undefined;
  readonly reload: () => void;
}

interface ReadOptions {
  /** Time after which it is read again while the page is visible, in ms. Default: only once */
  readonly every?: number | undefined;
  /** What is read: while it is the same, the last answer is kept, although the address changes. Default: the address */
  readonly subject?: string;
}

/** Reads from the API, and tries again by itself while the application or its Redis is away. */
export function useRead<Answer>(url: string, { every, subject = url }: ReadOptions = {}): Reading<Answer> {
  const { report } = useSession();
  const [state, setState] = useState<{ subject: string; data?: Answer; error?: ApiError }>({ subject });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((previous) => previous + 1), []);

  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAfter = (ms: number) => {
      timer = setTimeout(() => void attempt(), ms);
    };
    const attempt = async () => {
      if (document.hidden && every !== undefined) return readAfter(every);
      try {
        const data = await read<Answer>(url, abort.signal);
        if (abort.signal.aborted) return;
        report(null);
        setState({ subject, data });
        if (every !== undefined) readAfter(every);
      } catch (thrown) {
        if (abort.signal.aborted) return;
        const error = toApiError(thrown);
        report(error);
        setState((previous) => ({ ...(previous.subject === subject ? previous : { subject }), error }));
        if (error.isPassing) readAfter(RETRY_AFTER);
      }
    };
    void attempt();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [url, subject, round, every, report]);

  const isCurrent = state.subject === subject;
  return { data: isCurrent ? state.data : undefined, error: isCurrent ? state.error : undefined, reload };
}

export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError(-1, 'FAILED', thrown instanceof Error ? thrown.message : String(thrown));
}
