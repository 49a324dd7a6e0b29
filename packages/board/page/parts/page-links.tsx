import { Link, pathTo, type Query } from '../router.js';

interface PageLinksProps {
  readonly segments: readonly string[];
  readonly query?: Query;
  readonly isFirst: boolean;
  readonly cursor: string | null;
  readonly what: string;
}

/** Links between the pages of a list. A cursor only leads on; the browser's back button leads back. */
export function PageLinks({ segments, query = {}, isFirst, cursor, what }: PageLinksProps) {
  if (isFirst && cursor === null) return null;
  return (
    <nav class="pages" aria-label={`Pages of ${what}`}>
      {!isFirst && <Link to={pathTo(segments, query)}>First {what}</Link>}
      {cursor !== null && <Link to={pathTo(segments, { ...query, cursor })}>More {what}</Link>}
    </nav>
  );
}
