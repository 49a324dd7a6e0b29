/** Looks at a result as soon as there is one, and hands it on: at once if it is there, without a promise. */
export function onceDone<Result>(
  result: Result | Promise<Result>,
  look: (result: Result) => void,
): Result | Promise<Result> {
  if (result instanceof Promise) {
    return result.then((known) => {
      look(known);
      return known;
    });
  }
  look(result);
  return result;
}
