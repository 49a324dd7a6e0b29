import { useState } from 'preact/hooks';
import { useSession } from '../../api/session.js';
import { countOf, formatCount } from '../../parts/format.js';
import { Empty, MissingPartitions, Problem } from '../../parts/notices.js';
import type { QueueViewProps } from '../../shell/where.js';
import { actionsIn, type Many, ManyDialog } from '../many/many-dialog.js';
import { bodyOf, isNarrow, readFilter } from './filter.js';
import { FilterForm } from './filter-form.js';
import { MessageTable } from './message-table.js';
import { type Search, useSearch } from './use-search.js';

/** A job takes no more ids than this. */
const MAX_SELECTED = 1000;

/** Finds messages, and lets the viewer choose many of them to change. */
export function FindView({ instance, queue, query }: QueueViewProps) {
  const filter = readFilter(query);
  const key = JSON.stringify(filter);
  return <Found key={key} instance={instance} queue={queue} query={query} />;
}

function Found({ instance, queue, query }: QueueViewProps) {
  const { mayChange } = useSession();
  const filter = readFilter(query);
  const search = useSearch(instance, queue, filter);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [many, setMany] = useState<Many>();
  const path = ['i', instance, 'queues', queue, 'messages'];
  const actions = mayChange ? actionsIn(filter.state) : [];
  return (
    <section class="card" aria-label="Messages">
      <FilterForm path={path} filter={filter} />
      <Reach search={search} isNarrow={isNarrow(filter)} />
      <MissingPartitions missing={search.missing} />
      {search.error && <Problem error={search.error} retry={search.goOn} />}
      {search.messages.length > 0 && (
        <>
          <div class="many" role="group" aria-label="Change many messages">
            {selected.size > 0 ? (
              <>
                <span class="chosen">{formatCount(selected.size)} selected</span>
                {actions.map((action) => (
                  <button key={action} type="button" onClick={() => setMany({ action, ids: [...selected] })}>
                    {label(action)}…
                  </button>
                ))}
                <button type="button" class="quiet" onClick={() => setSelected(new Set())}>
                  Select none
                </button>
              </>
            ) : (
              <>
                <span class="chosen">All that match</span>
                {(['count', ...actions] as const).map((action) => (
                  <button key={action} type="button" onClick={() => setMany({ action, filter: bodyOf(filter) })}>
                    {label(action)}…
                  </button>
                ))}
              </>
            )}
          </div>
          <MessageTable
            instance={instance}
            queue={queue}
            state={filter.state}
            messages={search.messages}
            selected={selected}
            select={actions.length > 0 ? (ids) => setSelected(new Set([...ids].slice(0, MAX_SELECTED))) : undefined}
          />
        </>
      )}
      <Further search={search} state={filter.state} isNarrow={isNarrow(filter)} />
      {many && <ManyDialog instance={instance} queue={queue} many={many} close={() => setMany(undefined)} />}
    </section>
  );
}

function label(action: string): string {
  return action.charAt(0).toUpperCase() + action.slice(1);
}

interface ReachProps {
  readonly search: Search;
  readonly isNarrow: boolean;
}

/** How far the search has got. */
function Reach({ search, isNarrow }: ReachProps) {
  const { messages, examined, isRunning, isComplete } = search;
  const found = countOf(messages.length, 'message');
  return (
    <div class="reach">
      <p role="status">
        {isRunning && 'Searching… '}
        {isNarrow ? `${found} found among ${formatCount(examined)} examined` : `${found} listed`}
        {isComplete ? ': these are all.' : isRunning ? ' so far.' : '; there are more.'}
      </p>
      {isRunning ? (
        <button type="button" class="small" onClick={search.stop}>
          Stop
        </button>
      ) : (
        <button type="button" class="small" onClick={search.restart}>
          Search again
        </button>
      )}
    </div>
  );
}

interface FurtherProps extends ReachProps {
  readonly state: string;
}

function Further({ search, state, isNarrow }: FurtherProps) {
  const { messages, isRunning, isComplete, error } = search;
  if (isRunning || error) return null;
  if (isComplete) {
    if (messages.length > 0) return null;
    return (
      <Empty>
        <p>{isNarrow ? `No ${state} message matches.` : `There are no ${state} messages.`}</p>
        {isNarrow && <p>Try another state, or leave a field empty.</p>}
      </Empty>
    );
  }
  return (
    <div class="further">
      <button type="button" onClick={search.goOn}>
        {isNarrow ? 'Continue the search' : 'Show more'}
      </button>
    </div>
  );
}
