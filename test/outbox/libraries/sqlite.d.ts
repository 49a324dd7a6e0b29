/** What is used of `node:sqlite`, which the oldest Node.js that is supported does not have. */
declare module 'node:sqlite' {
  export class DatabaseSync {
    constructor(path: string);
    readonly isTransaction: boolean;
    prepare(statement: string): { all(...values: (string | number | null)[]): unknown[] };
    exec(statements: string): void;
    close(): void;
  }
}
