import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client.js';
import type { Reading } from '../api/use-read.js';

type Tone = 'good' | 'warn' | 'bad' | 'plain';

export function Notice({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return (
    <div class={`notice ${tone}`}>
      <p>{children}</p>
    </div>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/** Stands where an answer will be. It appears after a moment, so that fast answers do not flicker. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what}…
    </p>
  );
}

/** Says why something could not be read or changed. What passes by itself is said once, above the view. */
export function Problem({ error, retry }: { readonly error: ApiError; readonly retry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{error.message}</p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

interface ShownProps<Answer> {
  readonly reading: Reading<Answer>;
  readonly what: string;
  readonly children: (answer: Answer) => ComponentChildren;
}

/** Shows what has been read, or why there is nothing to show. */
export function Shown<Answer>({ reading: { data, error, reload }, what, children }: ShownProps<Answer>) {
  const isLoading = data === undefined && (!error || error.isPassing);
  return (
    <>
      {error && !error.isPassing && <Problem error={error} retry={reload} />}
      {isLoading && <Loading what={what} />}
      {data !== undefined && children(data)}
    </>
  );
}

/** Says that partitions could not be read, so that counts and lists lack theirs. */
export function MissingPartitions({ missing }: { readonly missing: readonly number[] | undefined }) {
  if (!missing?.length) return null;
  const one = missing.length === 1;
  return (
    <Notice tone="warn">
      {one ? 'Partition' : 'Partitions'} {missing.join(', ')} {one ? 'does' : 'do'} not answer. What follows lacks{' '}
      {one ? 'its' : 'their'} messages.
    </Notice>
  );
}
