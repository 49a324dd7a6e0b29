/** Orders that were placed together. */
export interface OrderBatch {
  readonly id: string;
  readonly size: number;
  /** When all of them are due, ISO 8601. */
  readonly dueAt: string;
}
