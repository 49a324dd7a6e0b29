import type { ComponentChildren } from 'preact';
import { type Connection, useSession } from '../api/session.js';
import { instanceLabel } from '../parts/names.js';
import { Notice } from '../parts/notices.js';
import { go, Link, pathTo, usePlace } from '../router.js';
import { instanceIn } from './where.js';
import { ThemeSwitch } from './theme.js';

const CONNECTIONS: Readonly<Record<Connection, string>> = {
  live: 'Live',
  'redis away': 'Redis is away',
  'no answer': 'No answer',
  ended: 'Signed out',
};

/** What is around every view: the head, what concerns the whole board, and what was last done. */
export function Frame({ said, children }: { readonly said: string; readonly children: ComponentChildren }) {
  const { config, connection, mayChange } = useSession();
  const place = usePlace();
  const instance = instanceIn(place, config.instances);
  const isWorkers = place.segments[2] === 'workers';
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <Link class="brand" to={pathTo(['i', instance])}>
          <Logo />
          Delay queues
        </Link>
        <nav aria-label="Board">
          <Link to={pathTo(['i', instance])} isCurrent={!isWorkers}>
            Queues
          </Link>
          <Link to={pathTo(['i', instance, 'workers'])} isCurrent={isWorkers}>
            Workers
          </Link>
        </nav>
        {config.instances.length > 1 && (
          <select
            aria-label="Instance"
            value={instance}
            onChange={(event) => go(pathTo(['i', event.currentTarget.value]))}
          >
            {config.instances.map((name) => (
              <option key={name} value={name}>
                {instanceLabel(name)}
              </option>
            ))}
          </select>
        )}
        <span class="connection" role="status" data-state={connection}>
          {CONNECTIONS[connection]}
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        <Banners />
        {children}
      </main>
      <div class="said" role="status">
        {said && <p>{said}</p>}
      </div>
      <footer>
        <p>
          nestjs-delay-queue-board {config.version}
          {!mayChange && ' · you may look at everything and change nothing'}
        </p>
        <ThemeSwitch />
      </footer>
    </>
  );
}

function Banners() {
  const { config, connection } = useSession();
  return (
    <>
      {connection === 'ended' && (
        <div class="notice bad" role="alert">
          <p>Your session has ended. What you see is no longer updated.</p>
          <a class="button" href={location.href}>
            Reload the page
          </a>
        </div>
      )}
      {connection === 'redis away' && (
        <div class="notice bad" role="alert">
          <p>
            The application cannot reach its Redis. What you see may be out of date. The page tries again by itself.
          </p>
        </div>
      )}
      {connection === 'no answer' && (
        <div class="notice bad" role="alert">
          <p>The application does not answer. What you see may be out of date. The page tries again by itself.</p>
        </div>
      )}
      {!config.isGuarded && (
        <Notice tone="warn">
          This board has no guards, so it only answers requests from the machine that it runs on. Set{' '}
          <code>guards</code> to open it to others.
        </Notice>
      )}
    </>
  );
}

function Logo() {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="13" r="8" />
      <path d="M12 9v4l2.5 2M9.5 2h5" />
    </svg>
  );
}
