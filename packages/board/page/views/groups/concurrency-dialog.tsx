import { useId, useState } from 'preact/hooks';
import type { GroupConcurrencyBody, GroupView } from '../../../src/api.js';
import type { Change } from '../../api/use-change.js';
import { Confirm } from '../../parts/confirm.js';

const KINDS = { default: 'As other groups', number: 'At most', unlimited: 'Unlimited' } as const;

type Kind = keyof typeof KINDS;

const MAX_CONCURRENCY = 1_000_000;

interface ConcurrencyDialogProps {
  readonly group: GroupView;
  readonly change: Change;
  readonly save: (body: GroupConcurrencyBody) => void;
  readonly close: () => void;
}

/** Asks how many messages of a group are handled at once. */
export function ConcurrencyDialog({ group, change, save, close }: ConcurrencyDialogProps) {
  const { concurrency: before = 'default' } = group;
  const [kind, setKind] = useState<Kind>(typeof before === 'number' ? 'number' : before);
  const [text, setText] = useState(typeof before === 'number' ? String(before) : '1');
  const id = useId();
  const concurrency = kind === 'number' ? readConcurrency(text) : kind;
  return (
    <Confirm
      title="Concurrency of a group"
      action="Set the concurrency"
      isReady={concurrency !== undefined}
      change={change}
      confirm={() => concurrency !== undefined && save({ concurrency })}
      close={close}
    >
      <p>
        How many messages of <b>{group.group}</b> all processes together handle at once. If more are being handled, they
        finish.
      </p>
      <fieldset class="due-field">
        <legend>Concurrency</legend>
        <div class="choice">
          {(Object.keys(KINDS) as Kind[]).map((each) => (
            <label key={each}>
              <input type="radio" name={id} checked={kind === each} onChange={() => setKind(each)} />
              {KINDS[each]}
            </label>
          ))}
        </div>
        {kind === 'number' && (
          <div class="field">
            <input
              aria-label="Number of messages"
              inputMode="numeric"
              autocomplete="off"
              value={text}
              aria-invalid={concurrency === undefined}
              aria-describedby={`${id}-problem`}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <p id={`${id}-problem`} class="field-problem" aria-live="polite">
              {concurrency === undefined && 'Enter a whole number from 1 to 1,000,000.'}
            </p>
          </div>
        )}
      </fieldset>
    </Confirm>
  );
}

/** Returns undefined if the text is no concurrency. */
function readConcurrency(text: string): number | undefined {
  const concurrency = Number(text);
  return /^\s*\d+\s*$/.test(text) && concurrency >= 1 && concurrency <= MAX_CONCURRENCY ? concurrency : undefined;
}
