import { useEffect, useState } from 'preact/hooks';
import type { QueueListView, QueueRow } from '../../src/api.js';
import { apiUrl } from '../api/client.js';
import { useSession } from '../api/session.js';
import { connectionEvents } from '../api/connection-events.js';
import { useEvents } from '../api/use-events.js';
import { useRead } from '../api/use-read.js';
import { formatCount, formatMeasured } from '../parts/format.js';
import { Heading } from '../parts/heading.js';
import { Notes } from '../parts/notes.js';
import { Empty, Shown } from '../parts/notices.js';
import { PageLinks } from '../parts/page-links.js';
import { Time } from '../parts/time.js';
import { go, Link, pathTo } from '../router.js';

/** Queues of a page: few enough that their names fit into the address of the event stream. */
const LIMIT = 40;

/** The list is read again for queues that are new or gone; their rows come as events. */
const LIST_EVERY = 15_000;

interface OverviewProps {
  readonly instance: string;
  readonly query: URLSearchParams;
}

export function OverviewView({ instance, query }: OverviewProps) {
  const prefix = query.get('prefix') ?? '';
  const cursor = query.get('cursor') ?? undefined;
  const reading = useRead<QueueListView>(apiUrl(['i', instance, 'queues'], { prefix, cursor, limit: LIMIT }), {
    every: LIST_EVERY,
  });
  const rows = useLiveRows(instance, reading.data);
  return (
    <>
      <div class="hero">
        <div>
          <Heading title="Queues">Queues</Heading>
          <p class="lead">What waits, what is being handled, what has failed, and how punctual it all is.</p>
        </div>
        <PrefixForm key={prefix} instance={instance} prefix={prefix} />
      </div>
      <Shown reading={reading} what="the queues">
        {(page) =>
          rows.length === 0 ? (
            <NoQueues prefix={prefix} />
          ) : (
            <section class="card flush" aria-label="Queues">
              <QueueTable instance={instance} rows={rows} />
              <PageLinks
                segments={['i', instance]}
                query={{ prefix }}
                isFirst={cursor === undefined}
                cursor={page.cursor}
                what="queues"
              />
            </section>
          )
        }
      </Shown>
    </>
  );
}

/** Keeps the rows of a page up to date. */
function useLiveRows(instance: string, page: QueueListView | undefined): readonly QueueRow[] {
  const { report } = useSession();
  const [fresh, setFresh] = useState<ReadonlyMap<string, QueueRow>>(new Map());
  const names = page?.queues.map(({ name }) => name).join(',') ?? '';
  useEffect(() => setFresh(new Map()), [page]);
  useEvents(names === '' ? null : apiUrl(['i', instance, 'events'], { queues: names }), {
    ...connectionEvents(report),
    rows: (rows) => {
      report(null);
      setFresh((previous) => new Map([...previous, ...(rows as QueueRow[]).map((row) => [row.name, row] as const)]));
    },
  });
  return page?.queues.map((row) => fresh.get(row.name) ?? row) ?? [];
}

function PrefixForm({ instance, prefix }: { readonly instance: string; readonly prefix: string }) {
  const [text, setText] = useState(prefix);
  return (
    <form
      role="search"
      class="row-form"
      onSubmit={(event) => {
        event.preventDefault();
        go(pathTo(['i', instance], { prefix: text.trim() }));
      }}
    >
      <div class="field grow">
        <label for="prefix">Name starts with</label>
        <input
          id="prefix"
          type="search"
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <button type="submit">Filter</button>
    </form>
  );
}

function NoQueues({ prefix }: { readonly prefix: string }) {
  return (
    <section class="card" aria-label="Queues">
      <Empty>
        {prefix === '' ? (
          <>
            <p>There are no queues yet.</p>
            <p>One appears here as soon as a process handles it, or somebody has offered a message to it.</p>
          </>
        ) : (
          <p>No queue's name starts with “{prefix}”.</p>
        )}
      </Empty>
    </section>
  );
}

function QueueTable({ instance, rows }: { readonly instance: string; readonly rows: readonly QueueRow[] }) {
  return (
    <table class="queues" role="table">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">
            Queue
          </th>
          {['Delayed', 'Ready', 'Active', 'Dead', 'Next due', 'Lateness p50 · p99', 'Handled / min'].map((column) => (
            <th key={column} role="columnheader" scope="col" class="number">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <Row key={row.name} instance={instance} row={row} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ instance, row }: { readonly instance: string; readonly row: QueueRow }) {
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        <Link class="name" to={pathTo(['i', instance, 'queues', row.name])}>
          {row.name}
        </Link>
        <Notes notes={row.notes} />
      </th>
      <Count instance={instance} row={row} state="delayed" />
      <Count instance={instance} row={row} state="ready" />
      <Count instance={instance} row={row} state="active" />
      <Count instance={instance} row={row} state="dead" />
      <td role="cell" class={`number wide ${isOverdue(row) ? 'overdue' : ''}`} data-label="Next due">
        {row.nextDue === null ? '–' : <Time at={row.nextDue} as="relative" />}
      </td>
      <td role="cell" class="number wide" data-label="Late p50 · p99">
        {row.lateness ? `${formatMeasured(row.lateness.p50)} · ${formatMeasured(row.lateness.p99)}` : '–'}
      </td>
      <td role="cell" class="number wide" data-label="Handled / min">
        {formatCount(row.handledPerMinute)}
        {row.failedPerMinute > 0 && <span class="failed"> · {formatCount(row.failedPerMinute)} failed</span>}
      </td>
    </tr>
  );
}

function isOverdue({ notes }: QueueRow): boolean {
  return notes.some(({ code }) => code === 'overdue');
}

interface CountProps {
  readonly instance: string;
  readonly row: QueueRow;
  readonly state: 'delayed' | 'ready' | 'active' | 'dead';
}

function Count({ instance, row, state }: CountProps) {
  const count = row[state];
  return (
    <td role="cell" class={`number ${state}`} data-label={state}>
      {count === 0 ? (
        <span class="zero">0</span>
      ) : (
        <Link to={pathTo(['i', instance, 'queues', row.name, 'messages'], { state })}>{formatCount(count)}</Link>
      )}
    </td>
  );
}
