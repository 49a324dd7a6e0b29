import { useMemo, useState } from 'preact/hooks';
import { mergeErrors } from '../../../../lib/search/merge-errors.js';
import type { ErrorListView } from '../../src/api.js';
import { useSession } from '../api/session.js';
import { useWalk } from '../api/use-walk.js';
import { countOf, formatCount } from '../parts/format.js';
import { Empty } from '../parts/notices.js';
import { Further, Reach } from '../parts/reach.js';
import { Time } from '../parts/time.js';
import { Link, pathTo } from '../router.js';
import type { QueueViewProps } from '../shell/where.js';
import { type Many, ManyDialog } from './many/many-dialog.js';

type ErrorGroup = ErrorListView['errors'][number];

/** Dead letters by the error that they died of, so that one cause is one line. */
export function ErrorsView({ instance, queue }: QueueViewProps) {
  const [many, setMany] = useState<Many>();
  const walk = useWalk<ErrorListView>({ segments: ['i', instance, 'queues', queue, 'errors'] });
  const errors = useMemo(() => mergeErrors(walk.pages.flatMap((page) => page.errors)), [walk.pages]);
  return (
    <section class="card" aria-labelledby="errors-title">
      <h2 id="errors-title">Dead letters by error</h2>
      <Reach walk={walk} found={`${countOf(errors.length, 'error')} found`} />
      {walk.isComplete && errors.length === 0 && (
        <Empty>
          <p>There are no dead letters.</p>
          <p>Messages that fail for good appear here, grouped by their error.</p>
        </Empty>
      )}
      <ul class="errors">
        {errors.map((group) => (
          <ErrorItem key={keyOf(group)} instance={instance} queue={queue} group={group} choose={setMany} />
        ))}
      </ul>
      <Further walk={walk} />
      {many && <ManyDialog instance={instance} queue={queue} many={many} close={() => setMany(undefined)} />}
    </section>
  );
}

function keyOf({ name, frame }: ErrorGroup): string {
  return JSON.stringify([name, frame]);
}

interface ErrorItemProps {
  readonly instance: string;
  readonly queue: string;
  readonly group: ErrorGroup;
  readonly choose: (many: Many) => void;
}

function ErrorItem({ instance, queue, group, choose }: ErrorItemProps) {
  const { mayChange } = useSession();
  const { name, frame, message, count, firstAt, lastAt, example } = group;
  const error = { name, ...(frame !== '' && { frame }) };
  const filter = { state: 'dead', error } as const;
  const path = ['i', instance, 'queues', queue];
  return (
    <li>
      <p class="count">
        <Link
          to={pathTo([...path, 'messages'], { state: 'dead', errorName: name, errorFrame: frame })}
          aria-label={`List ${countOf(count, 'dead letter')} with ${name}`}
        >
          {formatCount(count)}
        </Link>
      </p>
      <div class="cause">
        <p class="error-line">
          <b>{name}</b>: {message}
        </p>
        {frame !== '' && <code class="frame">{frame}</code>}
        <p class="hint">
          Last <Time at={lastAt} as="relative" />, first <Time at={firstAt} as="relative" />, such as{' '}
          <Link to={pathTo([...path, 'message'], { id: example })}>{example}</Link>
        </p>
      </div>
      {mayChange && (
        <div class="actions">
          <button type="button" onClick={() => choose({ action: 'redrive', filter })}>
            Redrive…
          </button>
          <button type="button" class="harmful" onClick={() => choose({ action: 'discard', filter })}>
            Discard…
          </button>
        </div>
      )}
    </li>
  );
}
