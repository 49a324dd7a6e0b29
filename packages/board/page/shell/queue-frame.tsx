import type { ComponentChildren } from 'preact';
import type { LimitsView, QueueView } from '../../src/api.js';
import { apiUrl } from '../api/client.js';
import { useSession } from '../api/session.js';
import { useChange } from '../api/use-change.js';
import { useRead } from '../api/use-read.js';
import { formatCount, formatMeasured } from '../parts/format.js';
import { Heading } from '../parts/heading.js';
import { MissingPartitions, Problem } from '../parts/notices.js';
import { Notes } from '../parts/notes.js';
import { STATES } from '../parts/state-badge.js';
import { Time } from '../parts/time.js';
import { Link, pathTo } from '../router.js';
import { LimitsButton, LimitsSet } from './limits.js';
import { QueueContext } from './queue-context.js';

const VIEWS = [
  ['', 'The future'],
  ['messages', 'Messages'],
  ['errors', 'Dead letters'],
  ['groups', 'Groups'],
  ['repeats', 'Repeats'],
  ['handled', 'Handled'],
] as const;

/** Which tab is current while a view is open that has none. */
const PARENTS: Readonly<Record<string, string>> = { message: 'messages', jobs: 'messages' };

interface QueueFrameProps {
  readonly instance: string;
  readonly queue: string;
  readonly view: string;
  readonly children: ComponentChildren;
}

/** What is above each view of one queue: its counts, its notes, and the links between the views. */
export function QueueFrame({ instance, queue, view, children }: QueueFrameProps) {
  const { data, error, reload } = useRead<QueueView>(apiUrl(['i', instance, 'queues', queue]), { every: 3000 });
  const limits = useRead<LimitsView>(apiUrl(['i', instance, 'queues', queue, 'limits']), { every: 3000 });
  const path = (tab: string) => pathTo(['i', instance, 'queues', queue, ...(tab === '' ? [] : [tab])]);
  return (
    <>
      <div class="hero">
        <div class="crumbs">
          <p>
            <Link to={pathTo(['i', instance])}>Queues</Link> /
          </p>
          <Heading title={queue}>{queue}</Heading>
          {data && <Notes notes={data.notes} />}
          <LimitsSet limits={limits.data?.limits} />
        </div>
        {data && (
          <PauseButton instance={instance} queue={data} reload={reload}>
            {limits.data && <LimitsButton {...{ instance, queue }} {...limits.data} reload={limits.reload} />}
          </PauseButton>
        )}
      </div>
      {error && !error.isPassing && error.status !== 401 && <Problem error={error} retry={reload} />}
      {data && (
        <>
          <Counts queue={data} path={path('messages')} />
          <MissingPartitions missing={data.missing} />
        </>
      )}
      <nav class="tabs" aria-label="Views of the queue">
        {VIEWS.filter(([tab]) => isOffered(tab, view, data)).map(([tab, label]) => (
          <Link key={tab} to={path(tab)} isCurrent={(PARENTS[view] ?? view) === tab}>
            {label}
          </Link>
        ))}
      </nav>
      <QueueContext.Provider value={data}>{children}</QueueContext.Provider>
    </>
  );
}

function Counts({ queue, path }: { readonly queue: QueueView; readonly path: string }) {
  return (
    <dl class="counts">
      {STATES.map((state) => (
        <div key={state} class={queue[state] > 0 ? `${state} some` : state}>
          <dt>{state}</dt>
          <dd>
            <Link to={`${path}?state=${state}`}>{formatCount(queue[state])}</Link>
          </dd>
        </div>
      ))}
      <div class="wide">
        <dt>next due</dt>
        <dd>{queue.nextDue === null ? '–' : <Time at={queue.nextDue} as="relative" />}</dd>
      </div>
      <div class="wide">
        <dt>lateness p50 · p99</dt>
        <dd>
          {queue.lateness ? `${formatMeasured(queue.lateness.p50)} · ${formatMeasured(queue.lateness.p99)}` : '–'}
        </dd>
      </div>
    </dl>
  );
}

/** Tabs that not every queue has, and what it must be able to do. */
const OPTIONAL: Readonly<Record<string, keyof QueueView['can']>> = {
  groups: 'groups',
  repeats: 'repeats',
  handled: 'history',
};

/** An optional tab is left out unless the queue has it, or it is open: a tab that disappeared would take a click with it. */
function isOffered(tab: string, view: string, queue: QueueView | undefined): boolean {
  const ability = OPTIONAL[tab];
  return ability === undefined || tab === view || queue?.can[ability] === true;
}

interface PauseButtonProps {
  readonly instance: string;
  readonly queue: QueueView;
  readonly reload: () => void;
  /** Further buttons. */
  readonly children: ComponentChildren;
}

function PauseButton({ instance, queue, reload, children }: PauseButtonProps) {
  const { mayChange, say } = useSession();
  const { isRunning, error, run } = useChange();
  if (!mayChange) return null;
  const toggle = async () => {
    const done = await run(['i', instance, 'queues', queue.name, queue.paused ? 'resume' : 'pause']);
    if (!done) return;
    say(queue.paused ? 'Resumed.' : 'Paused: no process handles messages of this queue until it is resumed.');
    reload();
  };
  return (
    <div class="head-actions">
      <div class="actions">
        {children}
        <button type="button" disabled={isRunning} onClick={() => void toggle()}>
          {queue.paused ? 'Resume' : 'Pause'}
        </button>
      </div>
      {error && <Problem error={error} />}
    </div>
  );
}
