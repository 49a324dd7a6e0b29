import { isObservable, lastValueFrom } from 'rxjs';

/** A handler that returns an Observable is done when that completes, with its last value, if it has any. */
export function completionOf(result: unknown): unknown {
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}
