import { useState } from 'preact/hooks';
import { useSession } from '../../api/session.js';
import { toLocal } from '../../parts/due-field.js';
import { STATES } from '../../parts/state-badge.js';
import { go, Link, pathTo } from '../../router.js';
import { useQueue } from '../../shell/queue-context.js';
import { type Filter, isNarrow } from './filter.js';

interface FilterFormProps {
  readonly path: readonly string[];
  readonly filter: Filter;
}

type Entries = Readonly<Record<'idPrefix' | 'type' | 'group' | 'text' | 'dueFrom' | 'dueTo' | 'repeats', string>>;

/** The filter of a search. The address of the page is what counts: sending the form changes that. */
export function FilterForm({ path, filter }: FilterFormProps) {
  const { config } = useSession();
  const can = useQueue()?.can;
  const [entries, setEntries] = useState(() => entriesOf(filter));
  const set = (name: keyof Entries) => (value: string) => setEntries({ ...entries, [name]: value });
  const submit = (event: Event) => {
    event.preventDefault();
    go(pathTo(path, queryOf(filter, entries)));
  };
  const messagePath = pathTo([...path.slice(0, -1), 'message'], { id: entries.idPrefix.trim() });
  return (
    <form class="filter" role="search" aria-label="Find messages" onSubmit={submit}>
      <nav class="segmented" aria-label="State">
        {STATES.map((state) => (
          <Link
            key={state}
            to={pathTo(path, { ...queryOf(filter, entries), state })}
            isCurrent={state === filter.state}
          >
            {state}
          </Link>
        ))}
      </nav>
      <div class="fields">
        <TextField name="id" label="Id, or its beginning" value={entries.idPrefix} set={set('idPrefix')} />
        {can?.types !== false && <TextField name="type" label="Type" value={entries.type} set={set('type')} />}
        {can?.groups !== false && <TextField name="group" label="Group" value={entries.group} set={set('group')} />}
        {!config.redacted && (
          <TextField name="text" label="Text in payload or headers" value={entries.text} set={set('text')} />
        )}
        <TimeField name="due-from" label="Due from" value={entries.dueFrom} set={set('dueFrom')} />
        <TimeField name="due-to" label="Due before" value={entries.dueTo} set={set('dueTo')} />
        {can?.repeats !== false && (
          <div class="field">
            <label for="repeats">Repeats</label>
            <select
              id="repeats"
              value={entries.repeats}
              onChange={(event) => set('repeats')(event.currentTarget.value)}
            >
              <option value="">with or without</option>
              <option value="true">only repeating</option>
              <option value="false">only once</option>
            </select>
          </div>
        )}
        <div class="actions">
          <button type="submit" class="primary">
            Find
          </button>
          {entries.idPrefix.trim() !== '' && (
            <button type="button" onClick={() => go(messagePath)}>
              Open this id
            </button>
          )}
          {isNarrow(filter) && (
            <Link class="button quiet" to={pathTo(path, { state: filter.state })}>
              Clear
            </Link>
          )}
        </div>
      </div>
      {filter.errorName !== undefined && (
        <p class="chip">
          Only those that died of <b>{filter.errorName}</b>
          {filter.errorFrame !== undefined && <code> {filter.errorFrame}</code>}{' '}
          <Link to={pathTo(path, { ...filter, errorName: '', errorFrame: '' })}>Remove</Link>
        </p>
      )}
    </form>
  );
}

function entriesOf(filter: Filter): Entries {
  return {
    idPrefix: filter.idPrefix ?? '',
    type: filter.type ?? '',
    group: filter.group ?? '',
    text: filter.text ?? '',
    dueFrom: localTime(filter.dueFrom),
    dueTo: localTime(filter.dueTo),
    repeats: filter.repeats ?? '',
  };
}

function localTime(iso: string | undefined): string {
  const time = Date.parse(iso ?? '');
  return Number.isNaN(time) ? '' : toLocal(time);
}

function queryOf(filter: Filter, entries: Entries): Readonly<Record<string, string | undefined>> {
  return {
    ...filter,
    ...entries,
    dueFrom: timeOf(entries.dueFrom, filter.dueFrom),
    dueTo: timeOf(entries.dueTo, filter.dueTo),
  };
}

/** Reads a time of the form. One that was not touched keeps its milliseconds. */
function timeOf(entry: string, before: string | undefined): string | undefined {
  if (entry === localTime(before)) return before;
  const time = new Date(entry);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
}

function TextField({ name, label, value, set }: FieldProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        value={value}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </div>
  );
}

function TimeField({ name, label, value, set }: FieldProps) {
  return (
    <div class="field time">
      <label for={name}>{label}</label>
      <input
        id={name}
        type="datetime-local"
        step="1"
        value={value}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </div>
  );
}
