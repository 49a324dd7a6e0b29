import type { HistogramView } from '../../../src/api.js';
import { apiUrl } from '../../api/client.js';
import { useRead } from '../../api/use-read.js';
import { useNow } from '../../parts/clock.js';
import { countOf, formatCount } from '../../parts/format.js';
import { MissingPartitions, Shown } from '../../parts/notices.js';
import { Link, pathTo } from '../../router.js';
import { useQueue } from '../../shell/queue-context.js';
import type { QueueViewProps } from '../../shell/where.js';
import { type Bar, Chart } from './chart.js';
import { type Span, SPANS, startOf } from './spans.js';

/** How many messages fall due in each minute, hour or day ahead. */
export function FutureView({ instance, queue, query }: QueueViewProps) {
  const name = query.get('span') ?? 'hour';
  const span = SPANS[name] ?? SPANS.hour!;
  const from = startOf(span, useNow());
  const to = from + span.width * span.buckets;
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), buckets: span.buckets };
  const reading = useRead<HistogramView>(apiUrl(['i', instance, 'queues', queue, 'histogram'], range), {
    every: span.every,
    subject: `${queue} ${span.label}`,
  });
  const messages = ['i', instance, 'queues', queue, 'messages'];
  const ready = useQueue()?.ready ?? 0;
  return (
    <section class="card" aria-labelledby="future-title">
      <div class="card-head">
        <h2 id="future-title">When messages fall due</h2>
        <nav class="segmented" aria-label="How far ahead">
          {Object.entries(SPANS).map(([key, { label }]) => (
            <Link
              key={key}
              to={pathTo(['i', instance, 'queues', queue], { span: key })}
              isCurrent={span === SPANS[key]}
            >
              {label}
            </Link>
          ))}
        </nav>
      </div>
      <Shown reading={reading} what="the due times">
        {(histogram) => (
          <>
            <MissingPartitions missing={histogram.missing} />
            <Summary histogram={histogram} span={span} overduePath={overduePath(histogram, ready, messages)} />
            <Chart
              bars={barsOf(histogram, span, messages)}
              overdue={{ count: histogram.overdue, path: overduePath(histogram, ready, messages) }}
              unit={span.bar}
            />
            <p class="hint">
              {histogram.after > 0 ? (
                <Link to={pathTo(messages, { state: 'delayed', dueFrom: histogram.to })}>
                  {countOf(histogram.after, 'message')}
                </Link>
              ) : (
                'No message'
              )}{' '}
              {histogram.after === 1 || histogram.after === 0 ? 'falls' : 'fall'} due later than this. Times are in your
              zone, {Intl.DateTimeFormat().resolvedOptions().timeZone}.
            </p>
          </>
        )}
      </Shown>
    </section>
  );
}

interface SummaryProps {
  readonly histogram: HistogramView;
  readonly span: Span;
  readonly overduePath: string;
}

function Summary({ histogram, span, overduePath: path }: SummaryProps) {
  const total = histogram.counts.reduce((sum, count) => sum + count, 0);
  const isNone = total + histogram.overdue + histogram.after === 0;
  return (
    <p class="summary">
      {isNone ? (
        'Nothing is waiting in this queue.'
      ) : (
        <>
          <b>{formatCount(total)}</b> {total === 1 ? 'message falls' : 'messages fall'} due in the next{' '}
          {span.label.toLowerCase()}
        </>
      )}
      {histogram.overdue > 0 && (
        <>
          {' · '}
          <Link class="overdue" to={path}>
            {formatCount(histogram.overdue)} overdue
          </Link>
        </>
      )}
    </p>
  );
}

/** Overdue messages are ready, or still delayed because no process transfers them. Returns where most of them are. */
function overduePath({ now, overdue }: HistogramView, ready: number, messages: readonly string[]): string {
  return pathTo(messages, ready * 2 >= overdue ? { state: 'ready' } : { state: 'delayed', dueTo: now });
}

function barsOf({ counts, from }: HistogramView, span: Span, messages: readonly string[]): Bar[] {
  return counts.map((count, i) => {
    const start = Date.parse(from) + i * span.width;
    const end = start + span.width;
    const range = { dueFrom: new Date(start).toISOString(), dueTo: new Date(end).toISOString() };
    return {
      count,
      path: pathTo(messages, { state: 'delayed', ...range }),
      tick: i % span.labelEvery === 0 ? span.tick(start) : '',
      label: span.bar === 'day' ? span.tick(start) : `${span.tick(start)}–${span.tick(end)}`,
    };
  });
}
