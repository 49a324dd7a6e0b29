import { useState } from 'preact/hooks';
import type { ChangedView, MessageView, StateName } from '../../../src/api.js';
import { useSession } from '../../api/session.js';
import { useChange } from '../../api/use-change.js';
import { Confirm } from '../../parts/confirm.js';
import { DueField, newDueEntry, readDue } from '../../parts/due-field.js';
import { Problem } from '../../parts/notices.js';
import { useQueue } from '../../shell/queue-context.js';
import { EditDialog } from './edit-dialog.js';

type ActionName = 'deliver' | 'reschedule' | 'cancel' | 'abort' | 'redrive' | 'discard';

interface Action {
  readonly label: string;
  /** What it does, for what is asked about first. */
  readonly warning?: string;
  readonly done: string;
}

const ACTIONS: Readonly<Record<ActionName, Action>> = {
  deliver: { label: 'Deliver now', done: 'The message is due now.' },
  reschedule: { label: 'Reschedule', done: 'Rescheduled.' },
  cancel: {
    label: 'Cancel',
    warning: 'The message is removed and never handled. If it repeats, the repetition ends. This cannot be undone.',
    done: 'Cancelled.',
  },
  abort: {
    label: 'Abort',
    warning: 'The message is removed, and its handler is told to stop. What the handler has done so far stays done.',
    done: 'Aborted.',
  },
  redrive: { label: 'Redrive', done: 'The message is due now, with all its attempts.' },
  discard: { label: 'Discard', warning: 'The dead letter is removed. This cannot be undone.', done: 'Discarded.' },
};

const IN_STATE: Readonly<Record<StateName, readonly ActionName[]>> = {
  delayed: ['deliver', 'reschedule', 'cancel'],
  ready: [],
  active: ['abort'],
  dead: ['redrive', 'discard'],
};

function isHarmful(name: ActionName): boolean {
  return ACTIONS[name].warning !== undefined;
}

interface ActionsProps {
  readonly instance: string;
  readonly message: MessageView;
  readonly reload: () => void;
}

/** What can be done with a message in its state. */
export function Actions({ instance, message, reload }: ActionsProps) {
  const { mayChange, config, say } = useSession();
  const can = useQueue()?.can;
  const change = useChange();
  const [asked, setAsked] = useState<ActionName | 'edit'>();
  const segments = ['i', instance, 'queues', message.queue, 'messages', message.id];
  // An occurrence that is due can no longer be cancelled, but its repetition can.
  const names: readonly ActionName[] =
    message.repeat && message.state !== 'delayed' && message.state !== 'dead'
      ? [...IN_STATE[message.state], 'cancel']
      : IN_STATE[message.state];
  if (!mayChange || message.id === '') return null;

  const close = () => {
    setAsked(undefined);
    change.forget();
  };
  const run = async (name: ActionName, body?: object) => {
    const answer = await change.run<ChangedView>([...segments, name], body);
    if (!answer) return;
    close();
    say(answer.changed ? ACTIONS[name].done : 'The message had already moved on. Nothing was changed.');
    reload();
  };
  const isAskedFirst = (name: ActionName) => name === 'reschedule' || isHarmful(name);
  const canEdit = message.state === 'delayed' && can?.changes === true && !config.redacted;

  const button = (name: ActionName) => (
    <button
      key={name}
      type="button"
      class={isHarmful(name) ? 'harmful' : undefined}
      disabled={change.isRunning}
      onClick={() => (isAskedFirst(name) ? setAsked(name) : void run(name))}
    >
      {ACTIONS[name].label}
      {isAskedFirst(name) && '…'}
    </button>
  );

  return (
    <>
      <div class="actions" role="group" aria-label="Actions">
        {names.filter((name) => !isHarmful(name)).map(button)}
        {canEdit && (
          <button type="button" onClick={() => setAsked('edit')}>
            Edit…
          </button>
        )}
        {names.filter(isHarmful).map(button)}
      </div>
      {message.state === 'ready' && (
        <p class="hint">A ready message cannot be changed: a consumer may take it at any time.</p>
      )}
      {change.error && asked === undefined && <Problem error={change.error} />}
      {asked === 'edit' && (
        <EditDialog
          message={message}
          change={change}
          save={async (body) => {
            const answer = await change.run<ChangedView>([...segments, 'change'], body);
            if (!answer) return;
            close();
            say(answer.changed ? 'Saved.' : 'The message had already moved on. Nothing was changed.');
            reload();
          }}
          close={close}
        />
      )}
      {asked === 'reschedule' && (
        <Reschedule change={change} run={(due) => void run('reschedule', { due })} close={close} />
      )}
      {asked !== undefined && asked !== 'edit' && asked !== 'reschedule' && (
        <Confirm
          title={`${ACTIONS[asked].label} this message`}
          action={`${ACTIONS[asked].label} the message`}
          isHarmful
          change={change}
          confirm={() => void run(asked)}
          close={close}
        >
          <p>{ACTIONS[asked].warning}</p>
        </Confirm>
      )}
    </>
  );
}

interface RescheduleProps {
  readonly change: ReturnType<typeof useChange>;
  readonly run: (due: number | string) => void;
  readonly close: () => void;
}

function Reschedule({ change, run, close }: RescheduleProps) {
  const [entry, setEntry] = useState(newDueEntry);
  const due = readDue(entry);
  return (
    <Confirm
      title="Reschedule this message"
      action="Reschedule"
      isReady={due !== undefined}
      change={change}
      confirm={() => due !== undefined && run(due)}
      close={close}
    >
      <DueField entry={entry} set={setEntry} />
    </Confirm>
  );
}
