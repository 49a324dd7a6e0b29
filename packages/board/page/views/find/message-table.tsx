import type { MessageRow, StateName } from '../../../src/api.js';
import { VirtualRows } from '../../parts/virtual-rows.js';
import { attemptsText } from '../../parts/names.js';
import { Time } from '../../parts/time.js';
import { Link, pathTo } from '../../router.js';
import { useQueue } from '../../shell/queue-context.js';

interface MessageTableProps {
  readonly instance: string;
  readonly queue: string;
  readonly state: StateName;
  readonly messages: readonly MessageRow[];
  readonly selected: ReadonlySet<string>;
  /** Absent if nothing can be done with a selection. */
  readonly select: ((ids: ReadonlySet<string>) => void) | undefined;
}

/** A list of messages of one state, of which only the rows that are seen are drawn. */
export function MessageTable({ instance, queue, state, messages, selected, select }: MessageTableProps) {
  const isDead = state === 'dead';
  const hasGroups = useQueue()?.can.groups !== false;
  const names = ['Message', whenOf(state), ...(hasGroups ? ['Group'] : []), isDead ? 'Error' : 'Payload'];
  const selectable = messages.filter(({ id }) => id !== '');
  const isAll = selectable.length > 0 && selectable.every(({ id }) => selected.has(id));
  return (
    <table class={`messages ${select ? 'selectable' : ''}`} role="table" aria-rowcount={messages.length + 1}>
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          {select && (
            <th role="columnheader" scope="col" class="box">
              <input
                type="checkbox"
                aria-label="Select all that are listed"
                checked={isAll}
                onChange={() => select(new Set(isAll ? [] : selectable.map(({ id }) => id)))}
              />
            </th>
          )}
          {names.map((name) => (
            <th key={name} role="columnheader" scope="col" class={`for-${name.toLowerCase().replace(' ', '-')}`}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <VirtualRows items={messages} columns={names.length + (select ? 1 : 0)}>
        {(message, index) => (
          <Row
            key={message.id || index}
            path={pathTo(['i', instance, 'queues', queue, 'message'], { id: message.id })}
            message={message}
            index={index}
            hasGroups={hasGroups}
            isSelected={selected.has(message.id)}
            toggle={select && (() => select(toggled(selected, message.id)))}
          />
        )}
      </VirtualRows>
    </table>
  );
}

/** What the times of a list are. */
function whenOf(state: StateName): string {
  if (state === 'dead') return 'Died';
  return state === 'active' ? 'Fell due' : 'Due';
}

function toggled(selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(id)) next.add(id);
  return next;
}

interface RowProps {
  readonly path: string;
  readonly message: MessageRow;
  readonly index: number;
  readonly hasGroups: boolean;
  readonly isSelected: boolean;
  readonly toggle: (() => void) | undefined;
}

function Row({ path, message, index, hasGroups, isSelected, toggle }: RowProps) {
  const { id, type, group, error, preview } = message;
  return (
    <tr role="row" aria-rowindex={index + 2} class={isSelected ? 'selected' : undefined}>
      {toggle && (
        <td role="cell" class="box">
          {id !== '' && <input type="checkbox" aria-label={`Select ${id}`} checked={isSelected} onChange={toggle} />}
        </td>
      )}
      <th role="rowheader" scope="row" class="what">
        {id === '' ? <span class="hint">no id</span> : <Link to={path}>{id}</Link>}
        <span class="type">
          {type}
          {message.failedAttempts > 0 && message.state !== 'dead' && (
            <span class="failed"> {attemptsText(message)} failed</span>
          )}
        </span>
      </th>
      <td role="cell" class="when">
        <Time at={message.diedAt ?? message.dueAt} />
      </td>
      {hasGroups && (
        <td role="cell" class="group">
          {group}
        </td>
      )}
      <td role="cell" class={error ? 'preview bad' : 'preview'}>
        {error ? `${error.name}: ${error.message}` : preview}
      </td>
    </tr>
  );
}
