import type { JobAction, StateName } from '../../../src/api.js';

/** What an action is called before, while and after it runs. */
export const WORDS: Readonly<
  Record<JobAction, { readonly verb: string; readonly running: string; readonly done: string }>
> = {
  count: { verb: 'Count', running: 'Counting', done: 'counted' },
  cancel: { verb: 'Cancel', running: 'Cancelling', done: 'cancelled' },
  reschedule: { verb: 'Reschedule', running: 'Rescheduling', done: 'rescheduled' },
  redrive: { verb: 'Redrive', running: 'Redriving', done: 'redriven' },
  discard: { verb: 'Discard', running: 'Discarding', done: 'discarded' },
};

/** What happens to a message, in a sentence. */
export const EFFECTS: Readonly<Record<JobAction, string>> = {
  count: 'Nothing is changed.',
  cancel: 'What is cancelled is removed and never handled, and repetitions end. This cannot be undone.',
  reschedule: 'A message that falls due before its turn comes is left as it is.',
  redrive: 'What is redriven is due now, with all its attempts.',
  discard: 'What is discarded is removed for good. This cannot be undone.',
};

export function isHarmful(action: JobAction): boolean {
  return action === 'cancel' || action === 'discard';
}

/** Returns what can be done with many messages of a state at once. */
export function actionsIn(state: StateName): readonly JobAction[] {
  if (state === 'delayed') return ['reschedule', 'cancel'];
  return state === 'dead' ? ['redrive', 'discard'] : [];
}
