import { useEffect, useState } from 'preact/hooks';
import type { FilterBody, JobAction, JobAnswer } from '../../../src/api.js';
import { useChange } from '../../api/use-change.js';
import { Confirm } from '../../parts/confirm.js';
import { Dialog } from '../../parts/dialog.js';
import { DueField, newDueEntry, readDue } from '../../parts/due-field.js';
import { countOf, formatCount } from '../../parts/format.js';
import { Problem } from '../../parts/notices.js';
import { go, pathTo } from '../../router.js';
import { stopJob, useJob } from './use-job.js';
import { EFFECTS, isHarmful, WORDS } from './words.js';

/** What shall be done, and with which messages. */
export interface Many {
  readonly action: JobAction;
  readonly ids?: readonly string[];
  readonly filter?: FilterBody;
}

interface ManyDialogProps {
  readonly instance: string;
  readonly queue: string;
  readonly many: Many;
  readonly close: () => void;
}

/** Says how many messages a change would meet, and has it confirmed. */
export function ManyDialog(props: ManyDialogProps) {
  const { many, close } = props;
  if (many.ids) return <ConfirmMany {...props} count={many.ids.length} isExact />;
  return <CountFirst key={many.action} {...props} close={close} />;
}

/** Counts all that match before they can be changed. */
function CountFirst(props: ManyDialogProps) {
  const { instance, queue, many, close } = props;
  const { run, error } = useChange();
  const [job, setJob] = useState<string>();
  useEffect(() => {
    let started: string | undefined;
    let isClosed = false;
    void run<JobAnswer>(['i', instance, 'queues', queue, 'jobs'], { action: 'count', filter: many.filter }).then(
      (answer) => {
        if (!answer) return;
        started = answer.job.id;
        if (isClosed) void stopJob(instance, started);
        else setJob(started);
      },
    );
    return () => {
      isClosed = true;
      if (started !== undefined) void stopJob(instance, started);
    };
  }, [instance, queue, many, run]);
  if (job !== undefined) return <Counting {...props} job={job} />;
  return (
    <Dialog title={titleOf(many.action)} close={close}>
      {error ? <Problem error={error} /> : <p role="status">Counting…</p>}
      <div class="actions end">
        <button type="button" onClick={close}>
          Back
        </button>
      </div>
    </Dialog>
  );
}

function Counting(props: ManyDialogProps & { readonly job: string }) {
  const { instance, many, close } = props;
  const { job, error, stop } = useJob(instance, props.job);
  const isEnded = job !== undefined && job.state !== 'running';
  if (isEnded && job.state !== 'failed' && many.action !== 'count' && job.report.matched > 0) {
    return <ConfirmMany {...props} count={job.report.matched} isExact={job.report.isComplete} />;
  }
  return (
    <Dialog title={titleOf(many.action)} close={close}>
      {error && <Problem error={error} />}
      {job?.error !== undefined && <p class="notice bad">{job.error}</p>}
      {job && (
        <p role="status" class="figure">
          {!isEnded && 'Counting: '}
          <b>
            {job.report.isComplete ? '' : 'at least '}
            {formatCount(job.report.matched)}
          </b>{' '}
          {job.report.matched === 1 ? 'message matches' : 'messages match'}, of {formatCount(job.report.examined)}{' '}
          examined
        </p>
      )}
      {!isEnded && <progress aria-label="Counting" />}
      <div class="actions end">
        {!isEnded && (
          <button type="button" onClick={stop}>
            Stop counting
          </button>
        )}
        <button type="button" onClick={close}>
          {isEnded ? 'Close' : 'Back'}
        </button>
      </div>
    </Dialog>
  );
}

interface ConfirmManyProps extends ManyDialogProps {
  readonly count: number;
  readonly isExact: boolean;
}

function ConfirmMany({ instance, queue, many, close, count, isExact }: ConfirmManyProps) {
  const { action, ids, filter } = many;
  const [due, setDue] = useState(newDueEntry);
  const change = useChange();
  const isDue = action === 'reschedule';
  const start = async () => {
    const body = { action, ...(ids ? { ids } : { filter }), ...(isDue && { due: readDue(due) }) };
    const answer = await change.run<JobAnswer>(['i', instance, 'queues', queue, 'jobs'], body);
    if (!answer) return;
    close();
    go(pathTo(['i', instance, 'queues', queue, 'jobs', answer.job.id], { of: String(count) }));
  };
  const number = `${isExact ? '' : 'at least '}${countOf(count, 'message')}`;
  return (
    <Confirm
      title={titleOf(action)}
      action={`${WORDS[action].verb} ${number}`}
      isHarmful={isHarmful(action)}
      // What was picked by hand was seen.
      {...(filter && { typed: String(count) })}
      isReady={!isDue || readDue(due) !== undefined}
      change={change}
      confirm={() => void start()}
      close={close}
    >
      <p class="figure">
        <b>{number}</b> {ids ? (count === 1 ? 'is selected' : 'are selected') : count === 1 ? 'matches' : 'match'}.
      </p>
      {!isExact && <p>The count was stopped. All that match are changed, also those that were not counted.</p>}
      <p>{EFFECTS[action]}</p>
      {isDue && <DueField entry={due} set={setDue} />}
    </Confirm>
  );
}

function titleOf(action: JobAction): string {
  return action === 'count' ? 'Count messages' : `${WORDS[action].verb} messages`;
}
