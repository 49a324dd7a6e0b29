/** What a Calendar has besides its time. */
export interface CalendarSettings {
  readonly zone: string;
  readonly isLenient: boolean;
  readonly firstDayOfWeek: number;
  readonly minimalDays: number;
  readonly gregorianChange: number | bigint;
}

/** A class that a value does not show: a Double that looks like an Integer, an enum's constant with a class of its own. */
export interface HiddenClass {
  readonly type: string;
  /** The value that was of this class. */
  readonly value: unknown;
}

/** What Java's bytes said about an object of a payload, and the object does not show. */
export interface Origin {
  /** The name of its Java class. */
  readonly type: string;
  /** By key or index, the classes of values that do not show them. */
  readonly hidden?: ReadonlyMap<string | number, HiddenClass>;
  /** The keys of a map in Java's order, and the classes of those that are no String. */
  readonly keys?: ReadonlyMap<string, string>;
  readonly calendar?: CalendarSettings;
}

/** Kept beside the objects, which must not have visible properties of ours, and as long as they. */
const origins = new WeakMap<object, Origin>();

export function remember(value: object, origin: Origin): void {
  origins.set(value, origin);
}

/** Undefined for what was not received, such as a copy. */
export function originOf(value: unknown): Origin | undefined {
  return typeof value === 'object' && value !== null ? origins.get(value) : undefined;
}
