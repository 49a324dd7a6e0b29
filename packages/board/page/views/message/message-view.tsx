import type { MessageView as Message } from '../../../src/api.js';
import { apiUrl } from '../../api/client.js';
import { useRead } from '../../api/use-read.js';
import { Empty, Notice, Problem } from '../../parts/notices.js';
import { StateBadge } from '../../parts/state-badge.js';
import { Time } from '../../parts/time.js';
import { attemptsText, backoffText, ruleText } from '../../parts/names.js';
import { Link, pathTo } from '../../router.js';
import { useQueue } from '../../shell/queue-context.js';
import type { QueueViewProps } from '../../shell/where.js';
import { Actions } from './actions.js';
import { Failure } from './failure.js';
import { HandledMessage } from './handled-message.js';
import { Headers } from './headers.js';
import { MissingMessage } from './missing-message.js';
import { Payload } from './payload.js';

/** One message: where it is, what it carries, and what can be done with it. */
export function MessageView(props: QueueViewProps) {
  const id = props.query.get('id') ?? '';
  // Browsers take them for steps in a path, even if they are encoded.
  if (id === '' || id === '.' || id === '..') {
    return (
      <section class="card" aria-label="Message">
        <Empty>
          <p>A message with the id “{id}” cannot be opened here.</p>
          <p>Use the command line instead.</p>
        </Empty>
      </section>
    );
  }
  return <ShownMessage {...props} id={id} />;
}

function ShownMessage({ instance, queue, id }: QueueViewProps & { readonly id: string }) {
  const url = apiUrl(['i', instance, 'queues', queue, 'messages', id]);
  const { data: message, error, reload } = useRead<Message>(url, { every: 3000 });
  const isGone = error?.status === 404;
  const canRemember = useQueue()?.can.history === true;
  if (!message && isGone && canRemember) {
    return <HandledMessage instance={instance} queue={queue} id={id} otherwise={<Unknown id={id} />} />;
  }
  if (!message) return <MissingMessage error={error} reload={reload} otherwise={<Unknown id={id} />} />;
  return (
    <article class="message" aria-labelledby="message-title">
      <section class="card">
        <div class="card-head">
          <h2 id="message-title" class="id">
            {message.id}
          </h2>
          <StateBadge state={message.state} />
        </div>
        {isGone && (
          <Notice tone="warn">
            This message is gone: it has been handled, cancelled or discarded. Below is what it last looked like.
          </Notice>
        )}
        {error && !isGone && !error.isPassing && <Problem error={error} retry={reload} />}
        <Facts instance={instance} message={message} />
        {!isGone && <Actions instance={instance} message={message} reload={reload} />}
      </section>
      {message.error && <Failure error={message.error} />}
      <Payload payload={message.payload} />
      <Headers headers={message.headers} />
    </article>
  );
}

function Unknown({ id }: { readonly id: string }) {
  return (
    <Empty>
      <p>
        No message has the id <code>{id}</code>.
      </p>
      <p>It may have been handled, cancelled or discarded.</p>
    </Empty>
  );
}

function Facts({ instance, message }: { readonly instance: string; readonly message: Message }) {
  const { queue, group, type, dueAt, offeredAt, expiresAt, leasedUntil, diedAt, repeat, backoff } = message;
  const isOver = message.state !== 'delayed';
  return (
    <dl class="facts">
      <div>
        <dt>{isOver ? 'fell due' : 'due'}</dt>
        <dd>
          <Time at={dueAt} />
        </dd>
      </div>
      {diedAt !== undefined && (
        <div>
          <dt>died</dt>
          <dd>
            <Time at={diedAt} />
          </dd>
        </div>
      )}
      {leasedUntil !== undefined && (
        <div>
          <dt>leased until</dt>
          <dd>
            <Time at={leasedUntil} />
          </dd>
        </div>
      )}
      <div>
        <dt>offered</dt>
        <dd>
          <Time at={offeredAt} />
        </dd>
      </div>
      {expiresAt !== undefined && (
        <div>
          <dt>expires</dt>
          <dd>
            <Time at={expiresAt} />
          </dd>
        </div>
      )}
      {type !== '' && (
        <div>
          <dt>type</dt>
          <dd>{type}</dd>
        </div>
      )}
      {group !== undefined && (
        <div>
          <dt>group</dt>
          <dd>
            <Link to={pathTo(['i', instance, 'queues', queue, 'messages'], { state: message.state, group })}>
              {group}
            </Link>
          </dd>
        </div>
      )}
      <div>
        <dt>failed attempts</dt>
        <dd>{attemptsText(message)}</dd>
      </div>
      {backoff && (
        <div>
          <dt>backoff</dt>
          <dd>{backoffText(backoff)}</dd>
        </div>
      )}
      {repeat && (
        <div>
          <dt>repeats</dt>
          <dd>{ruleText(repeat)}</dd>
        </div>
      )}
    </dl>
  );
}
