import type { ErrorView } from '../../../src/api.js';
import { CopyButton } from '../../parts/copy-button.js';

/** The error of the last attempt. */
export function Failure({ error: { name, message, stack } }: { readonly error: ErrorView }) {
  return (
    <section class="card" aria-labelledby="error-title">
      <div class="card-head">
        <h2 id="error-title">Why it failed</h2>
        {stack !== undefined && <CopyButton text={stack} what="the stack" />}
      </div>
      <p class="error-line">
        <b>{name}</b>: {message}
      </p>
      {stack !== undefined && (
        <pre tabIndex={0} aria-label="Stack">
          {stack}
        </pre>
      )}
    </section>
  );
}
