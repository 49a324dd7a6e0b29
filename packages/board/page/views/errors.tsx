import { useState } from 'preact/hooks';
import type { ErrorListView } from '../../src/api.js';
import { apiUrl } from '../api/client.js';
import { useSession } from '../api/session.js';
import { useRead } from '../api/use-read.js';
import { countOf, formatCount } from '../parts/format.js';
import { Empty, MissingPartitions, Shown } from '../parts/notices.js';
import { PageLinks } from '../parts/page-links.js';
import { Time } from '../parts/time.js';
import { Link, pathTo } from '../router.js';
import type { QueueViewProps } from '../shell/where.js';
import { type Many, ManyDialog } from './many/many-dialog.js';

type ErrorGroup = ErrorListView['errors'][number];

/** Dead letters by the error that they died of, so that one cause is one line. */
export function ErrorsView({ instance, queue, query }: QueueViewProps) {
  const cursor = query.get('cursor') ?? undefined;
  const [many, setMany] = useState<Many>();
  const segments = ['i', instance, 'queues', queue, 'errors'];
  const reading = useRead<ErrorListView>(apiUrl(segments, { cursor }), { every: 10_000 });
  return (
    <section class="card" aria-labelledby="errors-title">
      <h2 id="errors-title">Dead letters by error</h2>
      <Shown reading={reading} what="the dead letters">
        {({ errors, cursor: next, examined, missing }) => (
          <>
            <MissingPartitions missing={missing} />
            {errors.length === 0 && next === null && cursor === undefined ? (
              <Empty>
                <p>There are no dead letters.</p>
                <p>Messages that fail for good appear here, grouped by their error.</p>
              </Empty>
            ) : (
              <>
                <p class="hint">
                  {countOf(examined, 'dead letter')} examined
                  {next === null && cursor === undefined ? ': these are all.' : ' on this page.'}
                </p>
                <ul class="errors">
                  {errors.map((group) => (
                    <ErrorItem
                      key={`${group.name} ${group.frame}`}
                      instance={instance}
                      queue={queue}
                      group={group}
                      choose={setMany}
                    />
                  ))}
                </ul>
              </>
            )}
            <PageLinks segments={segments} isFirst={cursor === undefined} cursor={next} what="dead letters" />
          </>
        )}
      </Shown>
      {many && <ManyDialog instance={instance} queue={queue} many={many} close={() => setMany(undefined)} />}
    </section>
  );
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
