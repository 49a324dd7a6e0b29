import type { Walk } from '../api/use-walk.js';
import { countOf } from './format.js';
import { MissingPartitions, Problem } from './notices.js';

interface ReachProps {
  readonly walk: Walk<unknown>;
  /** What has been found, such as `3 messages found`. */
  readonly found: string;
}

/** Says how far a walk has got, and lets the viewer stop it. */
export function Reach({ walk, found }: ReachProps) {
  const { examined, encrypted, missing, isRunning, isComplete, error, stop, restart, goOn } = walk;
  // It tries again by itself.
  const isSearching = isRunning || error?.isPassing === true;
  return (
    <>
      <div class="reach">
        <p role="status">
          {isSearching && 'Searching… '}
          {found}, {countOf(examined, 'message')} examined
          {isComplete ? ': these are all.' : isSearching ? ' so far.' : '; there are more.'}
          {encrypted > 0 &&
            ` ${countOf(encrypted, 'message')} could not be searched: encrypted, and this board has no key.`}
        </p>
        <button type="button" class="small" onClick={isRunning ? stop : restart}>
          {isRunning ? 'Stop' : 'Search again'}
        </button>
      </div>
      <MissingPartitions missing={missing} />
      {error && !error.isPassing && <Problem error={error} retry={goOn} />}
    </>
  );
}

/** A button that goes on with a walk that has been stopped. */
export function Further({ walk }: { readonly walk: Walk<unknown> }) {
  if (walk.isRunning || walk.isComplete || walk.error) return null;
  return (
    <div class="further">
      <button type="button" onClick={walk.goOn}>
        Continue
      </button>
    </div>
  );
}
