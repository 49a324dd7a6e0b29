import type { WorkerListView } from '../../src/api.js';
import { apiUrl } from '../api/client.js';
import { useRead } from '../api/use-read.js';
import { formatCount, formatMeasured } from '../parts/format.js';
import { Heading } from '../parts/heading.js';
import { Empty, Shown } from '../parts/notices.js';
import { PageLinks } from '../parts/page-links.js';
import { Time } from '../parts/time.js';
import { Link, pathTo } from '../router.js';

type Worker = WorkerListView['workers'][number];

interface WorkersProps {
  readonly instance: string;
  readonly query: URLSearchParams;
}

/** The processes that handle queues, as they report themselves every few seconds. */
export function WorkersView({ instance, query }: WorkersProps) {
  const cursor = query.get('cursor') ?? undefined;
  const segments = ['i', instance, 'workers'];
  const reading = useRead<WorkerListView>(apiUrl(segments, { cursor }), { every: 5000 });
  return (
    <>
      <div class="hero">
        <div>
          <Heading title="Workers">Workers</Heading>
          <p class="lead">The processes that are alive, what they handle, and how busy they are.</p>
        </div>
      </div>
      <Shown reading={reading} what="the workers">
        {({ workers, cursor: next }) => (
          <>
            {workers.length === 0 && (
              <section class="card" aria-label="Workers">
                <Empty>
                  <p>No process is alive that handles a queue.</p>
                  <p>One appears here within seconds of its start, and leaves within 30 seconds of its end.</p>
                </Empty>
              </section>
            )}
            <div class="workers">
              {workers.map((worker) => (
                <WorkerCard key={worker.id} instance={instance} worker={worker} />
              ))}
            </div>
            <PageLinks segments={segments} isFirst={cursor === undefined} cursor={next} what="workers" />
          </>
        )}
      </Shown>
    </>
  );
}

function WorkerCard({ instance, worker }: { readonly instance: string; readonly worker: Worker }) {
  const { host, pid, version, startedAt, seenAt, queues } = worker;
  return (
    <section class="card" aria-label={`Process ${pid} on ${host}`}>
      <div class="card-head">
        <h2>
          {host} <span class="faint">process {pid}</span>
        </h2>
        <p class="hint">
          version {version} · started <Time at={startedAt} as="relative" /> · seen <Time at={seenAt} as="relative" />
        </p>
      </div>
      {queues.length === 0 ? (
        <p class="hint">It handles no queue.</p>
      ) : (
        <table class="worker-queues" role="table">
          <thead role="rowgroup">
            <tr role="row">
              {['Queue', 'Slots in use', 'Longest running', 'Handled / min', 'Lateness p50 · p99'].map((column) => (
                <th key={column} role="columnheader" scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {queues.map((queue) => (
              <QueueOfWorker key={queue.queue} instance={instance} queue={queue} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface QueueOfWorkerProps {
  readonly instance: string;
  readonly queue: Worker['queues'][number];
}

function QueueOfWorker({
  instance,
  queue: { queue, slots, used, longest, handled, failed, lateness },
}: QueueOfWorkerProps) {
  const path = ['i', instance, 'queues', queue];
  // A family is named by its pattern, and is no queue.
  const isFamily = queue.includes('*');
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        {isFamily ? queue : <Link to={pathTo(path)}>{queue}</Link>}
      </th>
      <td role="cell" data-label="Slots in use">
        <span class={used === slots ? 'meter full' : 'meter'} aria-hidden="true">
          <span style={{ width: `${slots === 0 ? 0 : Math.min(100, (used / slots) * 100)}%` }} />
        </span>{' '}
        {formatCount(used)} of {formatCount(slots)}
      </td>
      <td role="cell" data-label="Longest running">
        {longest ? (
          <>
            {isFamily ? longest.id : <Link to={pathTo([...path, 'message'], { id: longest.id })}>{longest.id}</Link>}{' '}
            <span class="hint">
              started <Time at={longest.since} as="relative" />
            </span>
          </>
        ) : (
          '–'
        )}
      </td>
      <td role="cell" data-label="Handled / min">
        {formatCount(handled)}
        {failed > 0 && <span class="failed"> · {formatCount(failed)} failed</span>}
      </td>
      <td role="cell" data-label="Lateness p50 · p99">
        {lateness ? `${formatMeasured(lateness.p50)} · ${formatMeasured(lateness.p99)}` : '–'}
      </td>
    </tr>
  );
}
