import { useMemo } from 'preact/hooks';
import type { HandledListView, HandledRow } from '../../../src/api.js';
import { useWalk } from '../../api/use-walk.js';
import { countOf } from '../../parts/format.js';
import { handlingText } from '../../parts/names.js';
import { Empty } from '../../parts/notices.js';
import { Further, Reach } from '../../parts/reach.js';
import { Time } from '../../parts/time.js';
import { VirtualRows } from '../../parts/virtual-rows.js';
import { Link, pathTo } from '../../router.js';
import { useQueue } from '../../shell/queue-context.js';
import type { QueueViewProps } from '../../shell/where.js';

const PER_ROUND = 100;

/** The handled messages that the queue remembers, newest first. */
export function HandledView({ instance, queue }: QueueViewProps) {
  const walk = useWalk<HandledListView>({
    segments: ['i', instance, 'queues', queue, 'handled'],
    parameters: { limit: PER_ROUND },
    isEnough: () => true,
  });
  const messages = useMemo(() => walk.pages.flatMap((page) => page.messages), [walk.pages]);
  return (
    <section class="card" aria-labelledby="handled-title">
      <h2 id="handled-title">Handled messages</h2>
      <Reach walk={walk} found={`${countOf(messages.length, 'message')} found`} />
      {messages.length > 0 && <HandledTable instance={instance} queue={queue} messages={messages} />}
      {walk.isComplete && messages.length === 0 && (
        <Empty>
          <p>This queue remembers no handled message.</p>
          <p>
            The option <code>history</code> of a queue has it remember them.
          </p>
        </Empty>
      )}
      <Further walk={walk} />
    </section>
  );
}

interface HandledTableProps {
  readonly instance: string;
  readonly queue: string;
  readonly messages: readonly HandledRow[];
}

function HandledTable({ instance, queue, messages }: HandledTableProps) {
  const hasGroups = useQueue()?.can.groups !== false;
  const names = ['Message', 'Handled', ...(hasGroups ? ['Group'] : []), 'How'];
  return (
    <table class="messages" role="table" aria-rowcount={messages.length + 1}>
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          {names.map((name) => (
            <th key={name} role="columnheader" scope="col" class={`for-${name.toLowerCase()}`}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <VirtualRows items={messages} columns={names.length}>
        {(message, index) => (
          <tr key={message.id} role="row" aria-rowindex={index + 2}>
            <th role="rowheader" scope="row" class="what">
              <Link to={pathTo(['i', instance, 'queues', queue, 'message'], { id: message.id })}>{message.id}</Link>
              <span class="type">{message.type}</span>
            </th>
            <td role="cell" class="when">
              <Time at={message.handledAt} />
            </td>
            {hasGroups && (
              <td role="cell" class="group">
                {message.group}
              </td>
            )}
            <td role="cell" class="preview">
              {handlingText(message)}
            </td>
          </tr>
        )}
      </VirtualRows>
    </table>
  );
}
