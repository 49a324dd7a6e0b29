import type { JobView as JobState } from '../../../src/api.js';
import { countOf, formatCount } from '../../parts/format.js';
import { Loading, MissingPartitions, Notice, Problem } from '../../parts/notices.js';
import { Time } from '../../parts/time.js';
import { Link, pathTo } from '../../router.js';
import type { QueueViewProps } from '../../shell/where.js';
import { useJob } from './use-job.js';
import { WORDS } from './words.js';

/** A change of many messages while it runs, and what came of it. */
export function JobView({ instance, queue, query, job: id }: QueueViewProps & { readonly job: string }) {
  const { job, error, stop } = useJob(instance, id);
  const of = Number(query.get('of')) || undefined;
  return (
    <section class="card" aria-labelledby="job-title">
      <h2 id="job-title">{job ? titleOf(job) : 'A change of many messages'}</h2>
      {error && !error.isPassing && (error.status === 404 ? <Gone /> : <Problem error={error} />)}
      {!job && (!error || error.isPassing) && <Loading what="the change" />}
      {job && <Progress job={job} of={of} stop={stop} />}
      <p>
        <Link to={pathTo(['i', instance, 'queues', queue, 'messages'])}>Back to the messages</Link>
      </p>
    </section>
  );
}

function Gone() {
  return (
    <Notice tone="warn">
      This change is no longer known. Its process has ended since, or newer changes have taken its place.
    </Notice>
  );
}

interface ProgressProps {
  readonly job: JobState;
  /** How many messages are expected, if that is known. */
  readonly of: number | undefined;
  readonly stop: () => void;
}

function Progress({ job, of, stop }: ProgressProps) {
  const { report, state, action } = job;
  const isRunning = state === 'running';
  return (
    <>
      {isRunning && (
        <progress
          aria-label={WORDS[action].running}
          {...(of !== undefined && { max: of, value: Math.min(of, report.changed + report.movedOn) })}
        />
      )}
      <dl class="facts">
        <div>
          <dt>{WORDS[action].done}</dt>
          <dd>
            {formatCount(report.changed)}
            {isRunning && of !== undefined && ` of ${formatCount(of)}`}
          </dd>
        </div>
        <div>
          <dt>had moved on</dt>
          <dd>{formatCount(report.movedOn)}</dd>
        </div>
        <div>
          <dt>examined</dt>
          <dd>{formatCount(report.examined)}</dd>
        </div>
        <div>
          <dt>started</dt>
          <dd>
            <Time at={job.startedAt} />
          </dd>
        </div>
      </dl>
      <p role="status">{sentenceFor(job)}</p>
      <MissingPartitions missing={report.missing} />
      {job.error !== undefined && <Notice tone="bad">{job.error}</Notice>}
      {isRunning && (
        <div class="actions">
          <button type="button" onClick={stop}>
            Stop
          </button>
        </div>
      )}
    </>
  );
}

function titleOf({ action, state }: JobState): string {
  if (state === 'running') return `${WORDS[action].running} messages`;
  if (state === 'failed') return `${WORDS[action].running} failed`;
  return state === 'stopped' ? `${WORDS[action].running} was stopped` : 'Done';
}

/** What came of it, in a sentence. */
function sentenceFor({ action, state, report: { changed, movedOn, matched } }: JobState): string {
  if (state === 'running') return 'It goes on if you leave this page.';
  if (action === 'count') return `${countOf(matched, 'message')} matched.`;
  const moved = movedOn === 0 ? '' : ` ${countOf(movedOn, 'other')} had moved on before their turn came.`;
  const rest = state === 'done' ? '' : ' The rest were left as they were.';
  return `${countOf(changed, 'message was', 'messages were')} ${WORDS[action].done}.${moved}${rest}`;
}
