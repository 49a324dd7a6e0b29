/** Messages of databases about a missing table or column, which libraries wrap in their errors. */
const SIGNS =
  /\b(42P01|42703|1146|1054|ER_NO_SUCH_TABLE|ER_BAD_FIELD_ERROR)\b|no such (table|column)|relation "[^"]*" does not exist/;

/** True if the database is there, but the outbox's table is missing or differs. */
export function isMissingTable(error: unknown): boolean {
  let at = error as Partial<WrappedError> | null | undefined;
  while (typeof at === 'object' && at) {
    if (SIGNS.test([at.code, at.errno, JSON.stringify(at.meta), at.message].join(' '))) return true;
    at = at.cause ?? at.parent;
  }
  return false;
}

interface WrappedError {
  readonly code: unknown;
  readonly errno: unknown;
  readonly meta: unknown;
  readonly message: unknown;
  readonly cause: Partial<WrappedError>;
  /** Sequelize's name for the cause. */
  readonly parent: Partial<WrappedError>;
}
