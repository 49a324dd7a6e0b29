import { useState } from 'preact/hooks';
import type { CountView, GroupListView } from '../../src/api.js';
import { apiUrl } from '../api/client.js';
import { useSession } from '../api/session.js';
import { useChange } from '../api/use-change.js';
import { useRead } from '../api/use-read.js';
import { Confirm } from '../parts/confirm.js';
import { countOf, formatCount } from '../parts/format.js';
import { Empty, Notice, Shown } from '../parts/notices.js';
import { Link, pathTo } from '../router.js';
import type { QueueViewProps } from '../shell/where.js';

type Group = GroupListView['groups'][number];

const LIMIT = 100;

/** The groups whose messages wait the most, and what holds them up. */
export function GroupsView({ instance, queue }: QueueViewProps) {
  const { say } = useSession();
  const change = useChange();
  const [asked, setAsked] = useState<string>();
  const url = apiUrl(['i', instance, 'queues', queue, 'groups'], { limit: LIMIT });
  const reading = useRead<GroupListView>(url, { every: 5000 });
  const close = () => {
    setAsked(undefined);
    change.forget();
  };
  const cancel = async (group: string) => {
    const answer = await change.run<CountView>(['i', instance, 'queues', queue, 'groups', group, 'cancel']);
    if (!answer) return;
    close();
    say(`${countOf(answer.changed, 'message was', 'messages were')} cancelled.`);
    reading.reload();
  };
  return (
    <section class="card" aria-labelledby="groups-title">
      <h2 id="groups-title">Groups with the longest backlogs</h2>
      <p class="hint">A backlog is what is due and waits for a permit of its group.</p>
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
              <GroupTable instance={instance} queue={queue} groups={groups} ask={setAsked} />
              {total > groups.length && (
                <p class="hint">
                  {formatCount(groups.length)} of {countOf(total, 'group')} are shown.
                </p>
              )}
            </>
          )
        }
      </Shown>
      {asked !== undefined && (
        <Confirm
          title="Cancel a group"
          action="Cancel all of the group"
          isHarmful
          typed={asked}
          change={change}
          confirm={() => void cancel(asked)}
          close={close}
        >
          <p>All messages of this group that are not due yet are removed and never handled. This cannot be undone.</p>
        </Confirm>
      )}
    </section>
  );
}

interface GroupTableProps {
  readonly instance: string;
  readonly queue: string;
  readonly groups: readonly Group[];
  readonly ask: (group: string) => void;
}

function GroupTable({ instance, queue, groups, ask }: GroupTableProps) {
  const { mayChange } = useSession();
  const path = ['i', instance, 'queues', queue];
  const longest = Math.max(...groups.map(({ waiting }) => waiting), 1);
  return (
    <table class="groups" role="table">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">
            Group
          </th>
          <th role="columnheader" scope="col">
            Backlog
          </th>
          <th role="columnheader" scope="col">
            Held by
          </th>
          {mayChange && (
            <th role="columnheader" scope="col">
              <span class="hidden">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {groups.map(({ group, waiting, holders, holding }) => (
          <tr key={group} role="row">
            <th role="rowheader" scope="row">
              <Link to={pathTo([...path, 'messages'], { state: 'delayed', group })}>{group}</Link>
            </th>
            <td role="cell" data-label="Backlog">
              <span class="meter" aria-hidden="true">
                <span style={{ width: `${(waiting / longest) * 100}%` }} />
              </span>{' '}
              {formatCount(waiting)}
            </td>
            <td role="cell" data-label="Held by" class="holders">
              {holding === 0 && 'nothing'}
              {holders.map((id) => (
                <Link key={id} to={pathTo([...path, 'message'], { id })}>
                  {id}
                </Link>
              ))}
              {holding > holders.length && <span>and {formatCount(holding - holders.length)} more</span>}
            </td>
            {mayChange && (
              <td role="cell" class="last">
                <button type="button" class="harmful" aria-label={`Cancel group ${group}`} onClick={() => ask(group)}>
                  Cancel…
                </button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
