import { useEffect, useState } from 'preact/hooks';
import type { JobAnswer, JobView } from '../../../src/api.js';
import { type ApiError, apiUrl, change } from '../../api/client.js';
import { useRead } from '../../api/use-read.js';

const EVERY = 500;

export interface Job {
  readonly job: JobView | undefined;
  readonly error: ApiError | undefined;
  readonly stop: () => void;
}

/** Follows a job until it has ended. */
export function useJob(instance: string, id: string): Job {
  const [isEnded, setEnded] = useState(false);
  const segments = ['i', instance, 'jobs', id];
  const { data, error, reload } = useRead<JobAnswer>(apiUrl(segments), { every: isEnded ? undefined : EVERY });
  const state = data?.job.state;
  useEffect(() => setEnded(state !== undefined && state !== 'running'), [state]);
  return { job: data?.job, error, stop: () => void stopJob(instance, id).then(reload) };
}

/** Stops a job. One that has ended, or that nobody knows any more, stays as it is. */
export async function stopJob(instance: string, id: string): Promise<void> {
  await change('DELETE', ['i', instance, 'jobs', id]).catch(() => undefined);
}
