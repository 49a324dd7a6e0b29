import { useEffect, useRef } from 'preact/hooks';
import { apiUrl, read } from './client.js';
import { useSession } from './session.js';
import { toApiError } from './use-read.js';

/** Time before a stream that was refused is opened again. */
const REOPEN_AFTER = 3000;

export type Listeners = Readonly<Record<string, (data: unknown) => void>>;

/** Listens to a stream of server-sent events for as long as the component is shown. The browser reconnects by itself. */
export function useEvents(url: string | null, listeners: Listeners): void {
  const { report } = useSession();
  const current = useRef(listeners);
  current.current = listeners;
  const names = Object.keys(listeners).join();

  useEffect(() => {
    if (url === null) return;
    let source: EventSource;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = () => {
      source = new EventSource(url);
      for (const name of names.split(',')) {
        source.addEventListener(name, (event: MessageEvent<string>) => {
          current.current[name]?.(event.data === '' ? undefined : (JSON.parse(event.data) as unknown));
        });
      }
      source.addEventListener('open', () => report(null));
      source.addEventListener('error', () => void onError());
    };
    const onError = async () => {
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, REOPEN_AFTER);
      // A stream does not say why it failed; a request does.
      await read(apiUrl(['config'])).then(
        () => undefined,
        (thrown: unknown) => {
          const error = toApiError(thrown);
          report(error);
          if (error.status === 401 || error.status === 403) clearTimeout(timer);
        },
      );
    };
    open();
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [url, names, report]);
}
