import type { ComponentChildren } from 'preact';
import type { ApiError } from '../../api/client.js';
import { Loading, Problem } from '../../parts/notices.js';

interface MissingMessageProps {
  readonly error: ApiError | undefined;
  readonly reload: () => void;
  /** Shown if there is no such message. */
  readonly otherwise: ComponentChildren;
}

/** In place of a message that has not been read. */
export function MissingMessage({ error, reload, otherwise }: MissingMessageProps) {
  const isGone = error?.status === 404;
  return (
    <section class="card" aria-label="Message">
      {isGone && otherwise}
      {error && !isGone && !error.isPassing && <Problem error={error} retry={reload} />}
      {(!error || error.isPassing) && <Loading what="the message" />}
    </section>
  );
}
