/** The used part of `node:sqlite`, which the oldest supported Node.js lacks. */
declare module 'node:sqlite' {
  export class DatabaseSync {
    constructor(path: string);
    readonly isTransaction: boolean;
    prepare(statement: string): { all(...values: (string | number | null)[]): unknown[] };
    exec(statements: string): void;
    close(): void;
  }
}
