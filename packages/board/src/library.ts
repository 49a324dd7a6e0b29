import type { MessageFilter, PageQuery, RepeatRule } from 'nestjs-delay-queue';
export interface MatchReport {
  readonly matched: number;
  readonly changed: number;
  readonly movedOn: number;
  readonly examined: number;
  readonly isComplete: boolean;
  readonly missing?: readonly number[];
}
export interface StepOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (report: MatchReport) => void;
}
export interface MatchingMessages {
  count(options?: StepOptions): Promise<MatchReport>;
  cancel(options?: StepOptions): Promise<MatchReport>;
  reschedule(due: Date | number, options?: StepOptions): Promise<MatchReport>;
  redrive(options?: StepOptions): Promise<MatchReport>;
  discard(options?: StepOptions): Promise<MatchReport>;
}
export interface WorkerQueue {
  readonly queue: string;
  readonly slots: number;
  readonly used: number;
  readonly longest?: { readonly id: string; readonly since: Date; readonly type: string };
  readonly handled: number;
  readonly failed: number;
  readonly lateness?: { readonly p50: number; readonly p99: number };
}
export interface WorkerReport {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
  readonly queues: readonly WorkerQueue[];
}
export interface WorkerPage {
  readonly workers: readonly WorkerReport[];
  readonly cursor: string | null;
}
export interface Later {
  matching?(queue: string, filter: MessageFilter): MatchingMessages;
  workers?(page?: PageQuery): Promise<WorkerPage>;
  occurrences?(rule: Pick<RepeatRule, 'cron' | 'timeZone'>, query?: { after?: Date; count?: number }): Date[];
  groups?(queue: string, query?: { limit?: number }): Promise<object>;
}
export interface LaterLetters {
  byError?(page?: { cursor?: string }): Promise<object>;
}
