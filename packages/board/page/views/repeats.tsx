import { useState } from 'preact/hooks';
import type { ChangedView, RepeatListView, RunView } from '../../src/api.js';
import { useSession } from '../api/session.js';
import { useChange } from '../api/use-change.js';
import { useWalk } from '../api/use-walk.js';
import { Confirm } from '../parts/confirm.js';
import { countOf, formatDateTime } from '../parts/format.js';
import { ruleText } from '../parts/names.js';
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
  const [asked, setAsked] = useState<{ readonly id: string; readonly action: RepeatAction }>();
  const walk = useWalk<RepeatListView>({
    segments: ['i', instance, 'queues', queue, 'repeats'],
    isEnough: (pages) => pages.reduce((sum, page) => sum + page.repeats.length, 0) >= PER_ROUND,
  });
  const repeats = walk.pages.flatMap((page) => page.repeats);
  const close = () => {
    setAsked(undefined);
    change.forget();
  };
  const act = async ({ id, action }: { readonly id: string; readonly action: RepeatAction }) => {
    const answer = await change.run<ChangedView | RunView>(['i', instance, 'queues', queue, 'repeats', id, action]);
    if (!answer) return;
    close();
    const isDone = 'changed' in answer ? answer.changed : answer.id !== null;
    say(isDone ? ACTIONS[action].done : 'It no longer repeats. Nothing was changed.');
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
          <RepeatItem key={repeat.id} instance={instance} queue={queue} repeat={repeat} ask={setAsked} />
        ))}
      </ul>
      <Further walk={walk} />
      {asked !== undefined && (
        <Confirm
          title={ACTIONS[asked.action].title}
          action={ACTIONS[asked.action].button}
          isHarmful={asked.action === 'end'}
          change={change}
          confirm={() => void act(asked)}
          close={close}
        >
          <p>
            <code>{asked.id}</code> {ACTIONS[asked.action].effect}
          </p>
        </Confirm>
      )}
    </section>
  );
}

const ACTIONS = {
  pause: {
    title: 'Pause a repetition',
    button: 'Pause the repetition',
    effect: 'no longer falls due until it is resumed. An occurrence that is being handled still ends.',
    done: 'The repetition is paused.',
  },
  resume: {
    title: 'Resume a repetition',
    button: 'Resume the repetition',
    effect: 'falls due at its next time from now on. Times that have passed are skipped.',
    done: 'The repetition is resumed.',
  },
  run: {
    title: 'Run a repetition now',
    button: 'Run it now',
    effect: 'gets an extra message that is due now and does not repeat. Its times stay the same.',
    done: 'An extra message is due now.',
  },
  end: {
    title: 'End a repetition',
    button: 'End the repetition',
    effect: 'does not repeat any more. An occurrence that is already due is still handled, as the last one.',
    done: 'The repetition has ended.',
  },
} as const;

type RepeatAction = keyof typeof ACTIONS;

interface RepeatItemProps {
  readonly instance: string;
  readonly queue: string;
  readonly repeat: Repeat;
  readonly ask: (about: { readonly id: string; readonly action: RepeatAction }) => void;
}

function RepeatItem({ instance, queue, repeat, ask }: RepeatItemProps) {
  const { mayChange } = useSession();
  const { id, type, rule, state, next } = repeat;
  const button = (action: RepeatAction, label: string) => (
    <button
      type="button"
      class={action === 'end' ? 'harmful' : undefined}
      aria-label={`${label} ${id}`}
      onClick={() => ask({ id, action })}
    >
      {label}…
    </button>
  );
  return (
    <li>
      <div class="card-head">
        <h3>
          <Link to={pathTo(['i', instance, 'queues', queue, 'message'], { id })}>{id}</Link>
        </h3>
        {rule.isPaused && <span class="badge">paused</span>}
        {!(rule.isPaused && state === 'delayed') && <StateBadge state={state} />}
        {mayChange && (
          <div class="actions">
            {rule.isPaused ? button('resume', 'Resume') : button('pause', 'Pause')}
            {button('run', 'Run now')}
            {button('end', 'End')}
          </div>
        )}
      </div>
      <p class="hint">
        {ruleText(rule)}
        {type !== '' && ` · type ${type}`}
      </p>
      {next.length > 0 && <Times next={next} timeZone={rule.timeZone} />}
    </li>
  );
}

/** The next times, in the rule's zone, if it has one, and in the viewer's. */
function Times({ next, timeZone }: { readonly next: readonly string[]; readonly timeZone: string | undefined }) {
  return (
    <table class="plain times">
      <thead>
        <tr>
          {timeZone !== undefined && <th scope="col">In {timeZone}</th>}
          <th scope="col">Your time</th>
        </tr>
      </thead>
      <tbody>
        {next.map((at) => (
          <tr key={at}>
            {timeZone !== undefined && <td>{formatDateTime(Date.parse(at), timeZone)}</td>}
            <td>
              <Time at={at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
