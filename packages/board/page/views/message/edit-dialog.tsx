import { useId, useState } from 'preact/hooks';
import type { ChangeBody, MessageView } from '../../../src/api.js';
import type { Change } from '../../api/use-change.js';
import { Dialog } from '../../parts/dialog.js';
import { Problem } from '../../parts/notices.js';

interface EditDialogProps {
  readonly message: MessageView;
  readonly change: Change;
  readonly save: (body: ChangeBody) => Promise<void>;
  readonly close: () => void;
}

/** Edits the payload and the headers of a message as JSON. Only what has been changed is sent. */
export function EditDialog({ message, change, save, close }: EditDialogProps) {
  const [before] = useState(() => ({ payload: textOf(message), headers: JSON.stringify(message.headers, null, 2) }));
  const [payload, setPayload] = useState(before.payload);
  const [headers, setHeaders] = useState(before.headers);
  const problems = { payload: payload === undefined ? '' : problemIn(payload), headers: headersProblem(headers) };
  const isChanged = payload !== before.payload || headers !== before.headers;
  const isReady = isChanged && problems.payload === '' && problems.headers === '' && !change.isRunning;
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isReady) return;
    void save({
      ...(payload !== before.payload && { payload: JSON.parse(payload ?? 'null') as unknown }),
      ...(headers !== before.headers && { headers: JSON.parse(headers) as Record<string, string> }),
    });
  };
  return (
    <Dialog title="Edit this message" close={close}>
      <form onSubmit={submit}>
        {payload === undefined ? (
          <p class="hint">The payload is not JSON and cannot be edited here.</p>
        ) : (
          <JsonField label="Payload" rows={12} text={payload} set={setPayload} problem={problems.payload} />
        )}
        <JsonField label="Headers" rows={4} text={headers} set={setHeaders} problem={problems.headers} />
        <p class="hint">If the queue has a schema, the payload is checked against it before anything is written.</p>
        {change.error && <Problem error={change.error} />}
        <div class="actions end">
          <button type="button" onClick={close}>
            Back
          </button>
          <button type="submit" class="primary" disabled={!isReady}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface JsonFieldProps {
  readonly label: string;
  readonly rows: number;
  readonly text: string;
  readonly set: (text: string) => void;
  readonly problem: string;
}

function JsonField({ label, rows, text, set, problem }: JsonFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        value={text}
        spellcheck={false}
        autocapitalize="off"
        aria-invalid={problem !== ''}
        aria-describedby={`${id}-problem`}
        onInput={(event) => set(event.currentTarget.value)}
      />
      <p id={`${id}-problem`} class="field-problem" aria-live="polite">
        {problem}
      </p>
    </div>
  );
}

function textOf({ payload }: MessageView): string | undefined {
  return payload.kind === 'json' ? JSON.stringify(payload.value, null, 2) : undefined;
}

function problemIn(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function headersProblem(text: string): string {
  const problem = problemIn(text);
  if (problem !== '') return problem;
  const value = JSON.parse(text) as unknown;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const isText = isObject && Object.values(value).every((header) => typeof header === 'string');
  return isText ? '' : 'Headers must be an object whose values are all strings.';
}
