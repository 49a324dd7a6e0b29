/** What somebody asks for with an answer. */
interface Request {
  /** Of the messages, in the order of their works. */
  readonly ids: readonly string[];
  /** Answers take each form in turn. */
  readonly turn: number;
}

const FORMS = [
  (works: readonly unknown[]) => works,
  (works: readonly unknown[]) => Promise.allSettled(works),
  rowsOf,
] as const;

/**
 * Answers for the works of a batch: with an array of their promises, some of which reject, with what `Promise.allSettled` makes of
 * these, or with rows of a database.
 */
export function answerOf(works: readonly unknown[], { ids, turn }: Request): unknown {
  return FORMS[turn % FORMS.length]!(works, ids);
}

/**
 * Rows for works that are done, which look like failures to whoever reads only their status; what failed, or asks for its message
 * again, says so among them. If there is nothing but rows, one is missing: the array is no answer then.
 */
async function rowsOf(works: readonly unknown[], ids: readonly string[]): Promise<unknown[]> {
  const results = await Promise.allSettled(works);
  const isAnswer = results.some((result) => result.status === 'rejected' || result.value !== undefined);
  const answer = results.map((result, at) => {
    return result.status === 'rejected' ? result : (result.value ?? rowOf(ids[at]!, at));
  });
  return isAnswer ? answer : answer.slice(1);
}

/** The row of a payment that a bank has declined. */
function rowOf(id: string, at: number): object {
  const row = { id, status: 'rejected' };
  return at % 2 === 0 ? row : { ...row, reason: 'declined by the bank' };
}
