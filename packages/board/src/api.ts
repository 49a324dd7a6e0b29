// The HTTP API of the board, as its page and other clients see it. Times are ISO 8601 strings, durations milliseconds.
// The OpenAPI document at `api/openapi.json` describes the same; a test compares both with real answers.

/** The codes of errors, in `error.code`. */
export type BoardErrorCode =
  | 'BAD_REQUEST'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'LOCAL_ONLY'
  | 'READ_ONLY'
  | 'FOREIGN_ORIGIN'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'CONFLICT'
  | 'BODY_TOO_LARGE'
  | 'REDACTED'
  | 'UNSUPPORTED'
  | 'TOO_MANY'
  | 'UNAVAILABLE'
  | 'INTERNAL';

/** The body of every answer with a status of 400 or more. */
export interface ApiError {
  readonly error: { readonly code: BoardErrorCode; readonly message: string };
}

/** `GET /config` */
export interface ConfigView {
  /** The names of the instances; `-` for the one without a name. */
  readonly instances: readonly string[];
  /** True if the board was mounted with `readOnly`. */
  readonly readOnly: boolean;
  /** True if this request's sender may change anything. */
  readonly mayChange: boolean;
  /** False if the board has no guards, and therefore serves this machine only. */
  readonly isGuarded: boolean;
  /** The version of this package. */
  readonly version: string;
  /** True if payloads and headers pass through `show`. Text search and changes of payloads are refused then. */
  readonly redacted: boolean;
}

export type StateName = 'delayed' | 'ready' | 'active' | 'dead';

export type CountsView = Readonly<Record<StateName, number>>;

export interface QueueNote {
  readonly code: 'paused' | 'partitions-missing' | 'no-worker' | 'growing' | 'overdue' | 'dead-letters';
  /** In words, such as `No process handles this queue.` */
  readonly text: string;
}

export interface QueueRow extends CountsView {
  readonly name: string;
  readonly nextDue: string | null;
  /** By how much the earliest delayed message is overdue. */
  readonly overdueMs: number;
  readonly paused: boolean;
  /** The partitions that did not answer. */
  readonly missing?: readonly number[];
  /** The number of processes that handle the queue. */
  readonly workers: number;
  readonly handledPerMinute: number;
  readonly failedPerMinute: number;
  /** Null if nothing was handled in the last minute. */
  readonly lateness: { readonly p50: number; readonly p99: number } | null;
  readonly notes: readonly QueueNote[];
}

/** `GET /i/:instance/queues` */
export interface QueueListView {
  readonly queues: readonly QueueRow[];
  readonly cursor: string | null;
  /** The time by Redis' clock, as in other answers. */
  readonly now: string;
}

/** What a queue's layout can do. */
export interface AbilitiesView {
  readonly headers: boolean;
  readonly types: boolean;
  readonly expiry: boolean;
  /** True if payload, headers and type of a delayed message can change. */
  readonly changes: boolean;
  readonly groups: boolean;
  readonly repeats: boolean;
  /** True if the queue can remember handled messages, whether or not it does. */
  readonly history: boolean;
}

/** `GET /i/:instance/queues/:queue` */
export interface QueueView extends QueueRow {
  /** The messages of each type; only with `?types=1`, which walks through the whole queue. */
  readonly types?: readonly { readonly type: string; readonly counts: CountsView }[];
  readonly layout: string;
  readonly can: AbilitiesView;
  readonly now: string;
}

/** `GET …/histogram` */
export interface HistogramView {
  readonly from: string;
  readonly to: string;
  readonly counts: readonly number[];
  readonly before: number;
  readonly after: number;
  readonly missing?: readonly number[];
  readonly now: string;
  /** Delayed messages whose due time has passed, and ready ones. */
  readonly overdue: number;
}

/** A rule has either `cron` with `timeZone`, or `every`, in ms. */
export interface RuleView {
  readonly cron?: string;
  readonly timeZone?: string;
  readonly every?: number;
  readonly missed: 'once' | 'skip' | 'each';
  /** Only with `missed: 'each'`, in ms. */
  readonly catchUp?: number;
  readonly startsAt?: string;
  readonly endsAt?: string;
  readonly limit?: number;
  /** How many occurrences are over, if they are counted. */
  readonly count?: number;
  /** Present, and true, if it is paused. */
  readonly isPaused?: true;
}

export interface ErrorView {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

/** Durations are in milliseconds. */
export type BackoffView =
  | { readonly type: 'fixed'; readonly delay: number; readonly jitter: number }
  | {
      readonly type: 'exponential';
      readonly delay: number;
      readonly factor: number;
      readonly maxDelay: number;
      readonly jitter: number;
    };

interface MessageFields {
  /** Empty for messages that only another system knows. */
  readonly id: string;
  readonly queue: string;
  readonly state: StateName;
  readonly type: string;
  /** Empty if headers are not shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly group?: string;
  readonly dueAt: string;
  readonly offeredAt: string;
  readonly failedAttempts: number;
  /** The message's own attempts and backoff; absent if those of its queue apply. */
  readonly attempts?: number;
  readonly backoff?: BackoffView;
  readonly expiresAt?: string;
  readonly repeat?: RuleView;
  readonly leasedUntil?: string;
  readonly diedAt?: string;
  readonly error?: ErrorView;
}

/** A message in a list. */
export interface MessageRow extends MessageFields {
  /** The beginning of the payload, at most 200 characters of plain text. */
  readonly preview: string;
}

export type PayloadView =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly base64: string; readonly size: number }
  /** The process of the board does not have the key. */
  | { readonly kind: 'encrypted'; readonly key: string; readonly size: number }
  | { readonly kind: 'hidden'; readonly reason: string };

/** `GET …/messages/:id` */
export interface MessageView extends MessageFields {
  readonly payload: PayloadView;
}

/** `GET …/messages` */
export interface MessageListView {
  readonly messages: readonly MessageRow[];
  /** A page may be empty and still have a cursor. */
  readonly cursor: string | null;
  /** How many messages this call has examined. */
  readonly examined: number;
  /** How many of them could not be searched for the text, because the process of the board cannot decrypt them. */
  readonly encrypted?: number;
  readonly missing?: readonly number[];
}

/** What a queue with a history remembers of a handled message. Durations are in milliseconds. */
interface HandledFields {
  readonly id: string;
  readonly queue: string;
  readonly type: string;
  readonly group?: string;
  /** The message's own attempts and backoff; absent if it had none, or if the queue keeps no payloads. */
  readonly attempts?: number;
  readonly backoff?: BackoffView;
  readonly dueAt: string;
  readonly offeredAt: string;
  readonly handledAt: string;
  readonly lateness: number;
  readonly took: number;
  readonly attempt: number;
  readonly worker: { readonly id: string; readonly host: string; readonly pid: number };
}

/** A handled message in a list. */
export interface HandledRow extends HandledFields {
  /** The beginning of the payload, at most 200 characters of plain text; absent if the queue keeps no payloads. */
  readonly preview?: string;
}

/** `GET …/handled/:id` */
export interface HandledView extends HandledFields {
  /** Payload and headers are absent if the queue keeps no payloads. */
  readonly payload?: PayloadView;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `GET …/handled`: newest first */
export interface HandledListView {
  readonly messages: readonly HandledRow[];
  readonly cursor: string | null;
  /** How many messages this call has read. */
  readonly examined: number;
  readonly missing?: readonly number[];
}

/** `POST …/messages/:id/reschedule`: a delay from now in ms, or a time. */
export interface RescheduleBody {
  readonly due: number | string;
}

/** `POST …/messages/:id/change`; an omitted field stays as it is. */
export interface ChangeBody {
  readonly due?: number | string;
  readonly payload?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly type?: string;
}

/** The answer to a change of one message: false if it had already moved on, or no longer repeats. */
export interface ChangedView {
  readonly changed: boolean;
}

/** Which messages to find; the times are ISO 8601 strings. */
export interface FilterBody {
  readonly state: StateName;
  readonly idPrefix?: string;
  readonly type?: string;
  readonly group?: string;
  readonly text?: string;
  readonly due?: { readonly from?: string; readonly to?: string };
  readonly repeats?: boolean;
  readonly error?: { readonly name: string; readonly frame?: string };
}

export type JobAction = 'count' | 'cancel' | 'reschedule' | 'redrive' | 'discard';

/** `POST …/jobs`: either a filter or ids. */
export interface JobBody {
  readonly action: JobAction;
  readonly filter?: FilterBody;
  /** At most 1,000. */
  readonly ids?: readonly string[];
  /** For `reschedule`: a delay from now in ms, or a time. */
  readonly due?: number | string;
}

export interface ReportView {
  /** Found so far: "at least" until `isComplete`. */
  readonly matched: number;
  readonly changed: number;
  /** Matched, but no longer in that state when their turn came. */
  readonly movedOn: number;
  readonly examined: number;
  readonly isComplete: boolean;
  /** How many of the examined messages could not be searched for the text. */
  readonly encrypted?: number;
  /** The partitions that did not answer; `isComplete` is false then. */
  readonly missing?: readonly number[];
}

export interface JobView {
  readonly id: string;
  readonly queue: string;
  readonly action: JobAction;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly report: ReportView;
  /** Why it failed. */
  readonly error?: string;
  readonly startedAt: string;
  readonly endedAt?: string;
}

/** `POST …/jobs`, and `GET` and `DELETE /i/:instance/jobs/:job` */
export interface JobAnswer {
  readonly job: JobView;
}

/** `GET …/errors` */
export interface ErrorListView {
  readonly errors: readonly {
    readonly name: string;
    readonly frame: string;
    readonly message: string;
    readonly count: number;
    readonly firstAt: string;
    readonly lastAt: string;
    readonly example: string;
  }[];
  readonly examined: number;
  readonly cursor: string | null;
  readonly missing?: readonly number[];
}

export interface GroupView {
  readonly group: string;
  readonly waiting: number;
  readonly holders: readonly string[];
  readonly holding: number;
  readonly paused: boolean;
  /** The group's own concurrency; absent if that of the queue's groups applies. */
  readonly concurrency?: number | 'unlimited';
}

/** `GET …/groups` */
export interface GroupListView {
  readonly groups: readonly GroupView[];
  readonly total: number;
  readonly isComplete: boolean;
}

/** `POST …/groups/:group/concurrency` */
export interface GroupConcurrencyBody {
  /** A number from 1 to 1,000,000; `default` for that of the queue's groups. */
  readonly concurrency: number | 'unlimited' | 'default';
}

/** `GET …/limits`, and the answer to a change of limits */
export interface LimitsView {
  /** Null if nobody has set any: the options of each process decide. */
  readonly limits: {
    readonly globalConcurrency?: number | 'unlimited';
    /** `per` is in ms. */
    readonly rate?: { readonly max: number; readonly per: number } | 'unlimited';
    readonly setBy: string;
    readonly setAt: string;
  } | null;
}

/** `POST …/limits` */
export interface LimitsBody {
  readonly globalConcurrency?: number | 'unlimited';
  readonly rate?: { readonly max: number; readonly per: number } | 'unlimited';
}

/** `POST …/groups/:group/cancel` */
export interface CountView {
  readonly changed: number;
}

/** `GET …/repeats` */
export interface RepeatListView {
  readonly repeats: readonly {
    readonly id: string;
    readonly type: string;
    readonly rule: RuleView;
    readonly dueAt: string;
    readonly state: StateName;
    /** The next five times; empty if it is paused. */
    readonly next: readonly string[];
  }[];
  readonly cursor: string | null;
  readonly examined: number;
}

/** `POST …/repeats/:id/run`: null if no message with this id repeats. */
export interface RunView {
  /** The id of the message that is due now. */
  readonly id: string | null;
}

/** `GET /i/:instance/workers` */
export interface WorkerListView {
  readonly workers: readonly {
    readonly id: string;
    readonly host: string;
    readonly pid: number;
    readonly version: string;
    readonly startedAt: string;
    readonly seenAt: string;
    readonly queues: readonly {
      readonly queue: string;
      readonly slots: number;
      readonly used: number;
      readonly longest?: { readonly id: string; readonly since: string; readonly type: string };
      readonly handled: number;
      readonly failed: number;
      readonly lateness?: { readonly p50: number; readonly p99: number };
    }[];
  }[];
  readonly cursor: string | null;
}

/** The data of the event `away` of `GET /i/:instance/events`: Redis does not answer. `back` has no data but `{}`. */
export interface AwayEvent {
  readonly message: string;
}
