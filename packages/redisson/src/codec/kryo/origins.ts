/** The properties of a Calendar besides its time. */
export interface CalendarSettings {
  readonly zone: string;
  readonly isLenient: boolean;
  readonly firstDayOfWeek: number;
  readonly minimalDays: number;
  readonly gregorianChange: number | bigint;
}

/** A class that a value does not show: a Double that looks like an Integer, or an enum's constant with a class of its own. */
export interface HiddenClass {
  readonly type: string;
  /** The value that was of this class. */
  readonly value: unknown;
}

/** The information of Java's bytes that an object of a payload does not show. */
export interface Origin {
  /** The name of its Java class. */
  readonly type: string;
  /** The classes of values that do not show them, by key or index. */
  readonly hidden?: ReadonlyMap<string | number, HiddenClass>;
  /** The keys of a map in Java's order, and the classes of those that are not Strings. */
  readonly keys?: ReadonlyMap<string, string>;
  readonly calendar?: CalendarSettings;
}

/** Keyed by the objects, which must have no visible properties of this package, so that entries last as long as they. */
const origins = new WeakMap<object, Origin>();

export function remember(value: object, origin: Origin): void {
  origins.set(value, origin);
}

/** Undefined for an object that was not received, such as a copy. */
export function originOf(value: unknown): Origin | undefined {
  return typeof value === 'object' && value !== null ? origins.get(value) : undefined;
}
