import type { GroupView } from '../../../src/api.js';
import { useSession } from '../../api/session.js';
import { formatCount } from '../../parts/format.js';
import { Link, pathTo } from '../../router.js';

/** What is asked about in a dialog. */
export interface Asked {
  readonly group: GroupView;
  readonly action: 'cancel' | 'concurrency';
}

interface GroupTableProps {
  readonly instance: string;
  readonly queue: string;
  readonly groups: readonly GroupView[];
  readonly togglePause: (group: GroupView) => void;
  readonly ask: (about: Asked) => void;
}

export function GroupTable({ groups, ...props }: GroupTableProps) {
  const { mayChange } = useSession();
  const longest = Math.max(...groups.map(({ waiting }) => waiting), 1);
  return (
    <table class="groups" role="table">
      <thead role="rowgroup">
        <tr role="row">
          {['Group', 'Backlog', 'Concurrency', 'Held by'].map((heading) => (
            <th key={heading} role="columnheader" scope="col">
              {heading}
            </th>
          ))}
          {mayChange && (
            <th role="columnheader" scope="col">
              <span class="hidden">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {groups.map((group) => (
          <GroupRow key={group.group} group={group} longest={longest} {...props} />
        ))}
      </tbody>
    </table>
  );
}

interface GroupRowProps extends Omit<GroupTableProps, 'groups'> {
  readonly group: GroupView;
  /** The longest backlog of all groups. */
  readonly longest: number;
}

function GroupRow({ instance, queue, group, longest, togglePause, ask }: GroupRowProps) {
  const { mayChange } = useSession();
  const path = ['i', instance, 'queues', queue];
  const { group: name, waiting, holders, holding, paused, concurrency = 'default' } = group;
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        <Link to={pathTo([...path, 'messages'], { state: 'delayed', group: name })}>{name}</Link>
        {paused && (
          <>
            {' '}
            <span class="badge delayed">paused</span>
          </>
        )}
      </th>
      <td role="cell" data-label="Backlog">
        <span class="meter" aria-hidden="true">
          <span style={{ width: `${(waiting / longest) * 100}%` }} />
        </span>{' '}
        {formatCount(waiting)}
      </td>
      <td role="cell" data-label="Concurrency">
        {typeof concurrency === 'number' ? formatCount(concurrency) : concurrency}
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
          <div class="actions">
            <button
              type="button"
              aria-label={`${paused ? 'Resume' : 'Pause'} group ${name}`}
              onClick={() => togglePause(group)}
            >
              {paused ? 'Resume' : 'Pause'}
            </button>
            <button
              type="button"
              aria-label={`Concurrency of group ${name}`}
              onClick={() => ask({ group, action: 'concurrency' })}
            >
              Concurrency…
            </button>
            <button
              type="button"
              class="harmful"
              aria-label={`Cancel group ${name}`}
              onClick={() => ask({ group, action: 'cancel' })}
            >
              Cancel…
            </button>
          </div>
        </td>
      )}
    </tr>
  );
}
