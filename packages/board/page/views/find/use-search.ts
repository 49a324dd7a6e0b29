import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { MessageListView, MessageRow } from '../../../src/api.js';
import { type ApiError, apiUrl, read } from '../../api/client.js';
import { useSession } from '../../api/session.js';
import { toApiError } from '../../api/use-read.js';
import { type Filter, parametersOf } from './filter.js';

/** How many messages a search finds before it waits for the viewer. */
const PER_ROUND = 100;
/** How many calls a search makes before it waits for the viewer, however few messages it has found. */
const CALLS_PER_ROUND = 25;
const RETRY_AFTER = 2000;

export interface Search {
  readonly messages: readonly MessageRow[];
  readonly examined: number;
  readonly missing: readonly number[] | undefined;
  readonly isRunning: boolean;
  /** True if every message of the state has been examined. */
  readonly isComplete: boolean;
  readonly error: ApiError | undefined;
  readonly goOn: () => void;
  readonly stop: () => void;
  readonly restart: () => void;
}

interface Progress {
  readonly messages: readonly MessageRow[];
  readonly examined: number;
  readonly missing: readonly number[] | undefined;
  readonly cursor: string | null | undefined;
}

const NOTHING: Progress = { messages: [], examined: 0, missing: undefined, cursor: undefined };

/** Searches a queue in bounded calls until enough has been found, everything has been examined, or the viewer stops it. */
export function useSearch(instance: string, queue: string, filter: Filter): Search {
  const { report } = useSession();
  const [progress, setProgress] = useState(NOTHING);
  const [isRunning, setRunning] = useState(true);
  const [error, setError] = useState<ApiError>();
  const abort = useRef(new AbortController());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const key = JSON.stringify(filter);

  const stop = useCallback(() => {
    abort.current.abort();
    clearTimeout(timer.current);
    setRunning(false);
  }, []);

  const run = useCallback(
    async (begin: Progress) => {
      stop();
      const { signal } = (abort.current = new AbortController());
      setRunning(true);
      setError(undefined);
      setProgress(begin);
      let reached = begin;
      try {
        for (let calls = 0; calls < CALLS_PER_ROUND && reached.cursor !== null; calls++) {
          const parameters = { ...parametersOf(JSON.parse(key) as Filter), cursor: reached.cursor, limit: PER_ROUND };
          const url = apiUrl(['i', instance, 'queues', queue, 'messages'], parameters);
          const page = await read<MessageListView>(url, signal);
          if (signal.aborted) return;
          report(null);
          reached = {
            messages: [...reached.messages, ...page.messages],
            examined: reached.examined + page.examined,
            missing: page.missing ?? reached.missing,
            cursor: page.cursor,
          };
          setProgress(reached);
          if (reached.messages.length - begin.messages.length >= PER_ROUND) break;
        }
        setRunning(false);
      } catch (thrown) {
        if (signal.aborted) return;
        const failure = toApiError(thrown);
        report(failure);
        setError(failure);
        setRunning(false);
        if (failure.isPassing) timer.current = setTimeout(() => void run(reached), RETRY_AFTER);
      }
    },
    [instance, queue, key, report, stop],
  );

  useEffect(() => {
    void run(NOTHING);
    return stop;
  }, [run, stop]);

  return {
    messages: progress.messages,
    examined: progress.examined,
    missing: progress.missing,
    isRunning,
    isComplete: progress.cursor === null,
    error,
    goOn: () => void run(progress),
    stop,
    restart: () => void run(NOTHING),
  };
}
