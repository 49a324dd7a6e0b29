import type { ComponentChildren } from 'preact';
import type { HandledView } from '../../../src/api.js';
import { apiUrl } from '../../api/client.js';
import { useRead } from '../../api/use-read.js';
import { formatMeasured } from '../../parts/format.js';
import { backoffText } from '../../parts/names.js';
import { Time } from '../../parts/time.js';
import { Headers } from './headers.js';
import { MissingMessage } from './missing-message.js';
import { Payload } from './payload.js';

interface HandledMessageProps {
  readonly instance: string;
  readonly queue: string;
  readonly id: string;
  /** Shown if the queue does not remember the message. */
  readonly otherwise: ComponentChildren;
}

/** A message that the queue remembers to have handled. */
export function HandledMessage({ instance, queue, id, otherwise }: HandledMessageProps) {
  const {
    data: message,
    error,
    reload,
  } = useRead<HandledView>(apiUrl(['i', instance, 'queues', queue, 'handled', id]));
  if (!message) return <MissingMessage error={error} reload={reload} otherwise={otherwise} />;
  const { payload, headers } = message;
  return (
    <article class="message" aria-labelledby="message-title">
      <section class="card">
        <div class="card-head">
          <h2 id="message-title" class="id">
            {message.id}
          </h2>
          <span class="badge" title="Has been handled; the queue remembers it">
            handled
          </span>
        </div>
        <Facts message={message} />
        {!payload && <p class="hint">The history of this queue keeps no payloads.</p>}
      </section>
      {payload && <Payload payload={payload} />}
      {headers && <Headers headers={headers} />}
    </article>
  );
}

function Facts({ message }: { readonly message: HandledView }) {
  const { type, group, attempt, attempts, backoff, worker } = message;
  const facts: readonly (readonly [name: string, fact: ComponentChildren])[] = [
    ['handled', <Time at={message.handledAt} />],
    ['took', formatMeasured(message.took)],
    ['started late by', formatMeasured(message.lateness)],
    ['attempt', attempts === undefined ? attempt : `${attempt} of ${attempts}`],
    ['worker', `${worker.host}, process ${worker.pid}`],
    ['fell due', <Time at={message.dueAt} />],
    ['offered', <Time at={message.offeredAt} />],
    ...(type === '' ? [] : [['type', type] as const]),
    ...(group === undefined ? [] : [['group', group] as const]),
    ...(backoff ? [['backoff', backoffText(backoff)] as const] : []),
  ];
  return (
    <dl class="facts">
      {facts.map(([name, fact]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </div>
      ))}
    </dl>
  );
}
