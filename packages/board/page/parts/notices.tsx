import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/client.js';

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

/** Says why something could not be read or changed, and what happens next. */
export function Problem({ error, retry }: { readonly error: ApiError; readonly retry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{textOf(error)}</p>
      {retry && !error.isPassing && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function textOf(error: ApiError): string {
  if (error.status === 503) return 'The application cannot reach its Redis. The page tries again by itself.';
  if (error.isPassing) return 'The application does not answer. The page tries again by itself.';
  return error.message;
}

/** Shows what has been read, or why there is nothing to show. */
export function Shown<Answer>({
  reading,
  what,
  children,
}: {
  readonly reading: { readonly data: Answer | undefined; readonly error: ApiError | undefined; reload: () => void };
  readonly what: string;
  readonly children: (answer: Answer) => ComponentChildren;
}) {
  const { data, error, reload } = reading;
  return (
    <>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined ? !error && <Loading what={what} /> : children(data)}
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
