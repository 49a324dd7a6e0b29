import { useState } from 'preact/hooks';
import type { CountView, GroupListView, GroupView } from '../../../src/api.js';
import { apiUrl } from '../../api/client.js';
import { useSession } from '../../api/session.js';
import { useChange } from '../../api/use-change.js';
import { useRead } from '../../api/use-read.js';
import { Confirm } from '../../parts/confirm.js';
import { countOf, formatCount } from '../../parts/format.js';
import { Empty, Notice, Problem, Shown } from '../../parts/notices.js';
import type { QueueViewProps } from '../../shell/where.js';
import { ConcurrencyDialog } from './concurrency-dialog.js';
import { type Asked, GroupTable } from './group-table.js';

const LIMIT = 100;

/** The groups whose messages wait the most, and what holds them up; also those with settings of their own. */
export function GroupsView({ instance, queue }: QueueViewProps) {
  const { say } = useSession();
  const change = useChange();
  const [asked, setAsked] = useState<Asked>();
  const path = ['i', instance, 'queues', queue, 'groups'];
  const reading = useRead<GroupListView>(apiUrl(path, { limit: LIMIT }), { every: 5000 });
  const ask = (about: Asked | undefined) => {
    setAsked(about);
    change.forget();
  };
  const close = () => ask(undefined);
  const run = async <Answer,>({ group, action, body }: GroupChange, inWords: (answer: Answer) => string) => {
    if (change.isRunning) return;
    const answer = await change.run<Answer>([...path, group, action], body);
    if (!answer) return;
    close();
    say(inWords(answer));
    reading.reload();
  };
  const cancel = (group: string) =>
    run<CountView>(
      { group, action: 'cancel' },
      ({ changed }) => `${countOf(changed, 'message was', 'messages were')} cancelled.`,
    );
  const togglePause = ({ group, paused }: GroupView) =>
    run({ group, action: paused ? 'resume' : 'pause' }, () =>
      paused ? 'Resumed.' : 'Paused: messages of this group wait until it is resumed.',
    );
  return (
    <section class="card" aria-labelledby="groups-title">
      <h2 id="groups-title">Groups with the longest backlogs</h2>
      <p class="hint">
        A backlog is what is due and waits for a permit of its group. Groups that are paused or have a concurrency of
        their own are listed, too.
      </p>
      <Shown reading={reading} what="the groups">
        {({ groups, total, isComplete }) =>
          groups.length === 0 ? (
            <Empty>
              <p>No group has a backlog.</p>
              <p>Groups appear here while their messages wait for each other or are being handled.</p>
            </Empty>
          ) : (
            <>
              {!isComplete && (
                <Notice>Not all groups could be compared. Some with long backlogs may be missing.</Notice>
              )}
              <GroupTable
                instance={instance}
                queue={queue}
                groups={groups}
                togglePause={(group) => void togglePause(group)}
                ask={ask}
              />
              {total > groups.length && (
                <p class="hint">
                  {formatCount(groups.length)} of {countOf(total, 'group')} are shown.
                </p>
              )}
            </>
          )
        }
      </Shown>
      {change.error && asked === undefined && <Problem error={change.error} />}
      {asked?.action === 'cancel' && (
        <Confirm
          title="Cancel a group"
          action="Cancel all of the group"
          isHarmful
          typed={asked.group.group}
          change={change}
          confirm={() => void cancel(asked.group.group)}
          close={close}
        >
          <p>All messages of this group that are not due yet are removed and never handled. This cannot be undone.</p>
        </Confirm>
      )}
      {asked?.action === 'concurrency' && (
        <ConcurrencyDialog
          group={asked.group}
          change={change}
          save={(body) =>
            void run({ group: asked.group.group, action: 'concurrency', body }, () => 'The concurrency is set.')
          }
          close={close}
        />
      )}
    </section>
  );
}

interface GroupChange {
  readonly group: string;
  readonly action: 'cancel' | 'pause' | 'resume' | 'concurrency';
  readonly body?: object;
}
