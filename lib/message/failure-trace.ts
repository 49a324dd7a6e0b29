import { isError, textOf } from './failure.js';

/** How many errors of a chain of causes are shown. */
const MOST_ERRORS = 5;

/** Of a long stack, so many lines from where it was thrown are shown, and so many of those that led to it: the handler's is there. */
const FIRST_FRAMES = 30;
const LAST_FRAMES = 20;
const LONGEST_FRAME = 300;

/**
 * Shows the stack of an error with those of its causes, for the log. Bounded, but far longer than what a dead letter keeps. Empty if
 * there is none.
 */
export function traceOf(thrown: unknown): string {
  const shown: string[] = [];
  const seen = new Set<unknown>();
  let next = thrown;
  while (isError(next) && !seen.has(next) && shown.length < MOST_ERRORS) {
    const error = next;
    seen.add(error);
    shown.push(shorten(textOf(() => error.stack ?? '', Infinity)));
    next = causeOf(error);
  }
  if (shown.length > 0 && next !== undefined && !isError(next)) shown.push(textOf(() => next));
  return shown.join('\ncaused by ');
}

/** The first lines of a stack repeat the message, which may be long. */
function shorten(stack: string): string {
  const start = stack.search(/^ +at /m);
  if (start < 0) return textOf(() => stack);
  const frames = stack
    .slice(start)
    .split('\n')
    .map((frame) => textOf(() => frame, LONGEST_FRAME));
  const left = frames.length - FIRST_FRAMES - LAST_FRAMES;
  if (left > 0) frames.splice(FIRST_FRAMES, left, `    ... ${left} more`);
  return [textOf(() => stack.slice(0, start).trimEnd()), ...frames].join('\n');
}

function causeOf(error: Error): unknown {
  try {
    return error.cause;
  } catch {
    return undefined;
  }
}
