import type { Rate } from '../store/message-store.js';

/** The limits that somebody has set for a queue while it runs. The options decide about a limit that is absent; null: no limit. */
export interface SetLimits {
  readonly globalConcurrency?: number | null;
  readonly rate?: Rate | null;
  /** Who has set them. */
  readonly by: string;
  /** When they were set, by the store's clock, ms. */
  readonly at: number;
}

/** The limits that were set for queues while they run. */
export interface LimitsRegistry {
  /** Reads what is stored. */
  read(queue: string): Promise<SetLimits | undefined>;
  /** Stores limits, or removes them, and tells all processes. @returns true if there were some before */
  write(queue: string, limits: SetLimits | undefined): Promise<boolean>;
}

/** Reads stored limits. Undefined if they cannot be read: somebody else has written them. */
export function parseLimits(text: string): SetLimits | undefined {
  try {
    const { globalConcurrency, rate, by, at } = JSON.parse(text) as Partial<SetLimits>;
    const isCount = (value: unknown) => Number.isInteger(value) && (value as number) > 0;
    const isRate = rate === undefined || rate === null || (isCount(rate.max) && isCount(rate.per));
    const isConcurrency = globalConcurrency === undefined || globalConcurrency === null || isCount(globalConcurrency);
    if (!isRate || !isConcurrency) return undefined;
    return {
      ...(globalConcurrency !== undefined && { globalConcurrency }),
      ...(rate !== undefined && { rate }),
      by: String(by),
      at: Number(at) || 0,
    };
  } catch {
    return undefined;
  }
}
