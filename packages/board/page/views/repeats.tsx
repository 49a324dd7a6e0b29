import { useState } from 'preact/hooks';
import type { ChangedView, RepeatListView } from '../../src/api.js';
import { useSession } from '../api/session.js';
import { useChange } from '../api/use-change.js';
import { useWalk } from '../api/use-walk.js';
import { Confirm } from '../parts/confirm.js';
import { countOf, formatDateTime } from '../parts/format.js';
import { Empty } from '../parts/notices.js';
import { Further, Reach } from '../parts/reach.js';
import { StateBadge } from '../parts/state-badge.js';
import { Time } from '../parts/time.js';
import { Link, pathTo } from '../router.js';
import type { QueueViewProps } from '../shell/where.js';

type Repeat = RepeatListView['repeats'][number];

/** How many rules are found before the search waits for the viewer. */
const PER_ROUND = 50;

/** The messages that repeat, with their rules and their next times. */
export function RepeatsView({ instance, queue }: QueueViewProps) {
  const { say } = useSession();
  const change = useChange();
  const [asked, setAsked] = useState<string>();
  const walk = useWalk<RepeatListView>({
    segments: ['i', instance, 'queues', queue, 'repeats'],
    isEnough: (pages) => pages.reduce((sum, page) => sum + page.repeats.length, 0) >= PER_ROUND,
  });
  const repeats = walk.pages.flatMap((page) => page.repeats);
  const close = () => {
    setAsked(undefined);
    change.forget();
  };
  const end = async (id: string) => {
    const answer = await change.run<ChangedView>(['i', instance, 'queues', queue, 'messages', id, 'cancel']);
    if (!answer) return;
    close();
    say(answer.changed ? 'The repetition has ended.' : 'It had already ended. Nothing was changed.');
    walk.restart();
  };
  return (
    <section class="card" aria-labelledby="repeats-title">
      <h2 id="repeats-title">Repeating messages</h2>
      <Reach walk={walk} found={`${countOf(repeats.length, 'repeating message')} found`} />
      {walk.isComplete && repeats.length === 0 && (
        <Empty>
          <p>No message of this queue repeats.</p>
        </Empty>
      )}
      <ul class="repeats">
        {repeats.map((repeat) => (
          <RepeatItem key={repeat.id} instance={instance} queue={queue} repeat={repeat} end={setAsked} />
        ))}
      </ul>
      <Further walk={walk} />
      {asked !== undefined && (
        <Confirm
          title="End a repetition"
          action="End the repetition"
          isHarmful
          change={change}
          confirm={() => void end(asked)}
          close={close}
        >
          <p>
            <code>{asked}</code> does not repeat any more. An occurrence that is already due is still handled, as the
            last one.
          </p>
        </Confirm>
      )}
    </section>
  );
}

interface RepeatItemProps {
  readonly instance: string;
  readonly queue: string;
  readonly repeat: Repeat;
  readonly end: (id: string) => void;
}

function RepeatItem({ instance, queue, repeat, end }: RepeatItemProps) {
  const { mayChange } = useSession();
  const { id, type, rule, state, next } = repeat;
  return (
    <li>
      <div class="card-head">
        <h3>
          <Link to={pathTo(['i', instance, 'queues', queue, 'message'], { id })}>{id}</Link>
        </h3>
        <StateBadge state={state} />
        {mayChange && (
          <button type="button" class="harmful" aria-label={`End ${id}`} onClick={() => end(id)}>
            End…
          </button>
        )}
      </div>
      <p class="hint">
        <code>{rule.cron}</code> in {rule.timeZone}
        {type !== '' && ` · type ${type}`} · missed times are {rule.missed === 'once' ? 'made up for once' : 'skipped'}
      </p>
      <table class="plain times">
        <thead>
          <tr>
            <th scope="col">In {rule.timeZone}</th>
            <th scope="col">Your time</th>
          </tr>
        </thead>
        <tbody>
          {next.map((at) => (
            <tr key={at}>
              <td>{formatDateTime(Date.parse(at), rule.timeZone)}</td>
              <td>
                <Time at={at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </li>
  );
}
