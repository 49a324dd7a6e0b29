import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, apiUrl, type Parameters, read } from './client.js';
import { useSession } from './session.js';
import { toApiError } from './use-read.js';

/** How many calls a walk makes before it waits for the viewer, however little it has found. */
const CALLS_PER_ROUND = 25;
const RETRY_AFTER = 2000;

/** What every page of a list has. */
interface WalkPage {
  readonly cursor: string | null;
  readonly examined: number;
  readonly encrypted?: number;
  readonly missing?: readonly number[];
}

interface Progress<Page> {
  readonly pages: readonly Page[];
  readonly examined: number;
  readonly encrypted: number;
  readonly missing: readonly number[] | undefined;
  readonly cursor: string | null | undefined;
}

export interface Walk<Page> {
  readonly pages: readonly Page[];
  /** How many messages have been examined. */
  readonly examined: number;
  /** How many of them could not be searched for the text. */
  readonly encrypted: number;
  readonly missing: readonly number[] | undefined;
  readonly isRunning: boolean;
  /** True once nothing is left to be examined. */
  readonly isComplete: boolean;
  readonly error: ApiError | undefined;
  readonly goOn: () => void;
  readonly stop: () => void;
  /** Begins again. What was found stays until there is something new. */
  readonly restart: () => void;
}

interface WalkOptions<Page> {
  readonly segments: readonly string[];
  readonly parameters?: Parameters;
  /** True if the pages of a round are enough for now. Default: never */
  readonly isEnough?: (pages: readonly Page[]) => boolean;
}

/** Reads a list in bounded calls until enough has been found, all of it has been examined, or the viewer stops it. */
export function useWalk<Page extends WalkPage>({ segments, parameters = {}, isEnough }: WalkOptions<Page>): Walk<Page> {
  const { report } = useSession();
  const [progress, setProgress] = useState<Progress<Page>>(nothing);
  const [isRunning, setRunning] = useState(true);
  const [error, setError] = useState<ApiError>();
  const abort = useRef(new AbortController());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const enough = useRef(isEnough);
  enough.current = isEnough;
  const key = JSON.stringify([segments, parameters]);

  const stop = useCallback(() => {
    abort.current.abort();
    clearTimeout(timer.current);
    setRunning(false);
  }, []);

  const run = useCallback(
    async (begin: Progress<Page>) => {
      stop();
      const { signal } = (abort.current = new AbortController());
      setRunning(true);
      setError(undefined);
      const [path, query] = JSON.parse(key) as [string[], Parameters];
      let reached = begin;
      try {
        for (let calls = 0; calls < CALLS_PER_ROUND && reached.cursor !== null; calls++) {
          const page = await read<Page>(apiUrl(path, { ...query, cursor: reached.cursor }), signal);
          if (signal.aborted) return;
          report(null);
          reached = {
            pages: [...reached.pages, page],
            examined: reached.examined + page.examined,
            encrypted: reached.encrypted + (page.encrypted ?? 0),
            missing: page.missing ?? reached.missing,
            cursor: page.cursor,
          };
          setProgress(reached);
          if (enough.current?.(reached.pages.slice(begin.pages.length))) break;
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
    [key, report, stop],
  );

  useEffect(() => {
    void run(nothing());
    return stop;
  }, [run, stop]);

  const { pages, examined, encrypted, missing, cursor } = progress;
  return {
    ...{ pages, examined, encrypted, missing, isRunning, error, stop },
    isComplete: cursor === null,
    goOn: () => void run(progress),
    restart: () => void run(nothing()),
  };
}

function nothing<Page>(): Progress<Page> {
  return { pages: [], examined: 0, encrypted: 0, missing: undefined, cursor: undefined };
}
