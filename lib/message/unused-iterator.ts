/** A function of the application has returned an iterator, which nothing iterates. Most likely it was meant to run. */
export class UnusedIterator extends Error {
  override readonly name = 'UnusedIterator';

  /** @param returnedBy - what has returned it, such as 'the handler' */
  constructor(returnedBy: string) {
    super(
      `${returnedBy} has returned an iterator, whose code has not run, because nothing iterates it: iterate it before, or write an ` +
        'ordinary or an async method in place of a generator (*)',
    );
  }
}

/** Whether a value does nothing until it is iterated: a generator, also one compiled to a plain function, or another iterator. */
export function isIterator(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    const { next } = value as { readonly next?: unknown };
    return typeof next === 'function' && (Symbol.iterator in value || Symbol.asyncIterator in value);
  } catch {
    return false;
  }
}
