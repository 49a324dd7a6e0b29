import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { BASE } from './base-path.js';

/** What the address of the page says below the base path. */
export interface Place {
  /** The decoded segments of the path. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

export type Query = Readonly<Record<string, string | undefined>>;

const MOVED = 'board-moved';

/** Builds the path of a place on the board, which is also the `href` of a link to it. */
export function pathTo(segments: readonly string[], query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, value);
  }
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
  return `${BASE}${path || '/'}${search.size > 0 ? `?${search}` : ''}`;
}

let moved = false;

/** True if this view was opened from another one of the board, not by loading the page. */
export function hasMoved(): boolean {
  return moved;
}

export function go(path: string, { replace = false } = {}): void {
  const isElsewhere = new URL(path, location.href).pathname !== location.pathname;
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  moved = true;
  dispatchEvent(new Event(MOVED));
  if (isElsewhere) scrollTo(0, 0);
}

function readPlace(): Place {
  const segments = location.pathname
    .slice(BASE.length)
    .split('/')
    .filter((segment) => segment !== '')
    .map(decode);
  return { segments, query: new URLSearchParams(location.search) };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Returns where the page is, and renders again when that changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(readPlace);
  useEffect(() => {
    const update = () => setPlace(readPlace());
    addEventListener('popstate', update);
    addEventListener(MOVED, update);
    return () => {
      removeEventListener('popstate', update);
      removeEventListener(MOVED, update);
    };
  }, []);
  return place;
}

interface LinkProps {
  readonly to: string;
  readonly isCurrent?: boolean;
  readonly class?: string;
  readonly 'aria-label'?: string;
  readonly tabIndex?: number;
  readonly onFocus?: () => void;
  readonly onBlur?: () => void;
  readonly onMouseEnter?: () => void;
  readonly children: ComponentChildren;
}

/** A link within the board. The browser handles a click with a modifier, such as one that opens a tab. */
export function Link({ to, isCurrent = false, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a {...rest} href={to} aria-current={isCurrent ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  );
}
