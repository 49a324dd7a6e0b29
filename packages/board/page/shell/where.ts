import type { Place } from '../router.js';

/** The instance that an address names; the first one if it names none. */
export function instanceIn({ segments }: Place, instances: readonly string[]): string {
  return (segments[0] === 'i' ? segments[1] : undefined) ?? instances[0] ?? '-';
}

/** What each view of a queue is told. */
export interface QueueViewProps {
  readonly instance: string;
  readonly queue: string;
  readonly query: URLSearchParams;
}
