import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { ConfigView } from '../../src/api.js';
import { type ApiError, apiUrl, read } from '../api/client.js';
import { type Connection, connectionAfter, type Session, SessionContext } from '../api/session.js';
import { toApiError } from '../api/use-read.js';
import { Loading, Problem } from '../parts/notices.js';
import { Frame } from './frame.js';
import { Routes } from './routes.js';

const RETRY_AFTER = 2000;
/** How long a line about what was done stays. */
const SAID_FOR = 6000;

/** Reads what this viewer may do, and shows the board. */
export function App() {
  const [config, setConfig] = useState<ConfigView>();
  const [error, setError] = useState<ApiError>();
  const [connection, setConnection] = useState<Connection>('live');
  const [said, setSaid] = useState('');

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const load = () =>
      read<ConfigView>(apiUrl(['config'])).then(setConfig, (thrown: unknown) => {
        setError(toApiError(thrown));
        timer = setTimeout(() => void load(), RETRY_AFTER);
      });
    void load();
    return () => clearTimeout(timer);
  }, []);

  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => setSaid(''), SAID_FOR);
    return () => clearTimeout(timer);
  }, [said]);

  const report = useCallback((failure: ApiError | null) => {
    // What a session that ended still had under way does not bring it back.
    setConnection((previous) => (previous === 'ended' ? previous : (connectionAfter(failure) ?? previous)));
  }, []);

  const session = useMemo<Session | undefined>(
    () => config && { config, connection, mayChange: config.mayChange && !config.readOnly, report, say: setSaid },
    [config, connection, report],
  );

  if (!session) return <main class="start">{error ? <Problem error={error} /> : <Loading what="the board" />}</main>;
  return (
    <SessionContext.Provider value={session}>
      <Frame said={said}>
        <Routes />
      </Frame>
    </SessionContext.Provider>
  );
}
