import { useMemo, useState } from 'preact/hooks';
import type { JobAction, MessageListView, StateName } from '../../../src/api.js';
import { useSession } from '../../api/session.js';
import { useWalk } from '../../api/use-walk.js';
import { countOf, formatCount } from '../../parts/format.js';
import { Empty } from '../../parts/notices.js';
import { Further, Reach } from '../../parts/reach.js';
import type { QueueViewProps } from '../../shell/where.js';
import { type Many, ManyDialog } from '../many/many-dialog.js';
import { actionsIn, isHarmful, WORDS } from '../many/words.js';
import { bodyOf, isNarrow, readFilter } from './filter.js';
import { FilterForm } from './filter-form.js';
import { MessageTable } from './message-table.js';

/** How many messages a search finds before it waits for the viewer. */
const PER_ROUND = 100;
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
  const walk = useWalk<MessageListView>({
    segments: ['i', instance, 'queues', queue, 'messages'],
    parameters: { ...filter, limit: PER_ROUND },
    isEnough: (pages) => pages.reduce((sum, page) => sum + page.messages.length, 0) >= PER_ROUND,
  });
  const messages = useMemo(() => walk.pages.flatMap((page) => page.messages), [walk.pages]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [many, setMany] = useState<Many>();
  const path = ['i', instance, 'queues', queue, 'messages'];
  const canSelect = mayChange && actionsIn(filter.state).length > 0;
  return (
    <section class="card" aria-label="Messages">
      <FilterForm path={path} filter={filter} />
      <Reach walk={walk} found={`${countOf(messages.length, 'message')} found`} />
      {messages.length > 0 && (
        <>
          {mayChange && (
            <ManyBar
              state={filter.state}
              selected={selected}
              choose={(action) =>
                setMany(selected.size > 0 ? { action, ids: [...selected] } : { action, filter: bodyOf(filter) })
              }
              clear={() => setSelected(new Set())}
            />
          )}
          <MessageTable
            instance={instance}
            queue={queue}
            state={filter.state}
            messages={messages}
            selected={selected}
            select={canSelect ? (ids) => setSelected(new Set([...ids].slice(0, MAX_SELECTED))) : undefined}
          />
        </>
      )}
      {walk.isComplete && messages.length === 0 && (
        <Empty>
          <p>{isNarrow(filter) ? `No ${filter.state} message matches.` : `There are no ${filter.state} messages.`}</p>
          {isNarrow(filter) && <p>Try another state, or leave a field empty.</p>}
        </Empty>
      )}
      <Further walk={walk} />
      {many && <ManyDialog instance={instance} queue={queue} many={many} close={() => setMany(undefined)} />}
    </section>
  );
}

interface ManyBarProps {
  readonly state: StateName;
  readonly selected: ReadonlySet<string>;
  readonly choose: (action: JobAction) => void;
  readonly clear: () => void;
}

/** What can be done with the selected messages, or with all that match while none is selected. */
function ManyBar({ state, selected, choose, clear }: ManyBarProps) {
  const actions = selected.size > 0 ? actionsIn(state) : (['count', ...actionsIn(state)] as const);
  return (
    <div class="many" role="group" aria-label="Change many messages">
      <span class="chosen">{selected.size > 0 ? `${formatCount(selected.size)} selected` : 'All that match'}</span>
      {actions.map((action) => (
        <button
          key={action}
          type="button"
          class={isHarmful(action) ? 'harmful' : undefined}
          onClick={() => choose(action)}
        >
          {WORDS[action].verb}…
        </button>
      ))}
      {selected.size > 0 && (
        <button type="button" class="quiet" onClick={clear}>
          Select none
        </button>
      )}
    </div>
  );
}
