import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Change } from '../api/use-change.js';
import { Dialog } from './dialog.js';
import { Problem } from './notices.js';

interface ConfirmProps {
  readonly title: string;
  /** The verb on the button. */
  readonly action: string;
  readonly isHarmful?: boolean;
  /** What must be typed before the button works. */
  readonly typed?: string;
  /** False while something that is asked for is not complete. */
  readonly isReady?: boolean;
  readonly change: Change;
  readonly confirm: () => void;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/** Asks before a change is made. */
export function Confirm({
  title,
  action,
  isHarmful = false,
  typed,
  change,
  confirm,
  close,
  children,
  ...props
}: ConfirmProps) {
  const [text, setText] = useState('');
  const id = useId();
  const isReady = props.isReady !== false && (typed === undefined || text.trim() === typed);
  return (
    <Dialog title={title} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !change.isRunning) confirm();
        }}
      >
        {children}
        {typed !== undefined && (
          <div class="field">
            <label for={id}>
              Type <b>{typed}</b> to confirm
            </label>
            <input
              id={id}
              value={text}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </div>
        )}
        {change.error && <Problem error={change.error} />}
        <div class="actions end">
          <button type="button" onClick={close}>
            Back
          </button>
          <button
            type="submit"
            class={isHarmful ? 'primary harmful' : 'primary'}
            disabled={!isReady || change.isRunning}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
