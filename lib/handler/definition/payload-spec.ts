import { isSchema } from '../../message/payload-check.js';

/**
 * How a payload is declared: by a Standard Schema (zod, valibot, arktype…), a DTO class, or a bare type with {@link payload}.
 *
 * Types are read off a schema rather than by comparing it with the standard's interface: TypeScript would compare whole schema types, and
 * gives up on ArkType's (TS2589).
 * @see https://standardschema.dev
 */
export type PayloadSpec =
  | {
      /** The property that every Standard Schema has. */
      readonly '~standard': object;
    }
  | BarePayload<unknown>
  | PayloadClass;

/**
 * A DTO class, which gives the payload a type for the compiler. Nothing checks the payload at run time; the handler gets a plain object.
 *
 * A `ValidationPipe` bound to the handler checks the payload, and with `transform` makes an instance of the class. The pipe reads the type
 * of the method's parameter, which must name the class itself: `PayloadOf` or an `import type` leaves nothing at run time. If the pipe
 * refuses a payload, the attempt fails and is retried, unless the pipe's `exceptionFactory` makes a `RejectMessage`.
 */
export type PayloadClass<T = unknown> = abstract new (...args: never[]) => T;

declare const TYPE: unique symbol;

/** A payload whose type only the compiler knows; nothing checks it at run time. */
export interface BarePayload<T> {
  /** For the compiler only. */
  readonly [TYPE]?: T;
  /** Distinguishes a bare type from schemas and classes. */
  readonly unchecked: true;
}

const BARE: BarePayload<never> = { unchecked: true };

/**
 * Declares a payload by its type alone. Nothing checks the payload at run time.
 * @example
 * ```ts
 * class Notes extends DelayQueue('notes', payload<{ text: string }>()) {}
 * ```
 */
export function payload<T>(): BarePayload<T> {
  return BARE;
}

/** The types of a Standard Schema. */
export interface TypedSchema<Input, Output> {
  /** The property that the standard defines. */
  readonly '~standard': {
    /** For the compiler only. */
    readonly types?:
      | {
          /** The type that the schema accepts. */
          readonly input: Input;
          /** The type that the schema returns. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** The type of an offered payload. */
export type PayloadInput<Spec> = Spec extends TypedSchema<infer Input, unknown> ? Input : PayloadOutput<Spec>;

/** The type of the payload that the handler gets. */
export type PayloadOutput<Spec> =
  Spec extends TypedSchema<unknown, infer Output>
    ? Output
    : Spec extends BarePayload<infer T> | PayloadClass<infer T>
      ? T
      : never;

export function isPayloadSpec(spec: unknown): spec is PayloadSpec {
  return isSchema(spec) || isBare(spec) || (typeof spec === 'function' && typeof spec.prototype === 'object');
}

/** True for a bare type made by any copy of this package. */
function isBare(spec: unknown): boolean {
  return typeof spec === 'object' && (spec as Partial<BarePayload<unknown>> | null)?.unchecked === true;
}
