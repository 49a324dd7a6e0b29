/**
 * What the payload of a message may be declared as: a Standard Schema (zod, valibot, arktype…), a DTO class, or a bare type by
 * {@link payload}.
 *
 * The types are read off a schema rather than compared with the interface of the standard: TypeScript would compare whole schema
 * types, and give up on ArkType's (TS2589).
 *
 * @see https://standardschema.dev
 */
export type PayloadSpec =
  | {
      /** What makes it a Standard Schema. */
      readonly '~standard': object;
    }
  | BarePayload<unknown>
  | PayloadClass;

/**
 * A DTO class. It gives the payload its type, and nothing looks at it at run time: an offer is checked by the compiler alone, and
 * the handler gets a plain object.
 *
 * A `ValidationPipe` bound to the handler checks the payload, and with `transform` makes an instance of it. It goes by the type of
 * the method's parameter, which must name the class itself: of `PayloadOf`, or an `import type`, nothing is left at run time. A
 * payload that it refuses fails the attempt, and is retried unless its `exceptionFactory` makes a `RejectMessage`.
 */
export type PayloadClass<T = unknown> = abstract new (...args: never[]) => T;

declare const TYPE: unique symbol;

/** A payload of which the compiler knows the type, and which nothing checks at run time. */
export interface BarePayload<T> {
  /** For the compiler alone. */
  readonly [TYPE]?: T;
  /** Tells it from schemas and classes. */
  readonly unchecked: true;
}

const BARE: BarePayload<never> = { unchecked: true };

/**
 * Declares a payload by its type alone.
 *
 * @typeParam T - the payload's type; nothing checks it at run time
 *
 * @example
 * ```ts
 * class Notes extends DelayQueue('notes', payload<{ text: string }>()) {}
 * ```
 */
export function payload<T>(): BarePayload<T> {
  return BARE;
}

/**
 * A Standard Schema, as far as its types are concerned.
 *
 * @typeParam Input - what it checks
 * @typeParam Output - what it makes of that
 */
export interface TypedSchema<Input, Output> {
  /** As the standard has it. */
  readonly '~standard': {
    /** For the compiler alone. */
    readonly types?:
      | {
          /** What is checked. */
          readonly input: Input;
          /** What the check makes of it. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** What is offered. */
export type PayloadInput<Spec> = Spec extends TypedSchema<infer Input, unknown> ? Input : PayloadOutput<Spec>;

/** What the handler gets. */
export type PayloadOutput<Spec> =
  Spec extends TypedSchema<unknown, infer Output>
    ? Output
    : Spec extends BarePayload<infer T> | PayloadClass<infer T>
      ? T
      : never;

/** A schema as it is called. */
export interface CallableSchema {
  readonly '~standard': { readonly validate: (value: unknown) => unknown };
}

export function isSchema(spec: unknown): spec is CallableSchema {
  if ((typeof spec !== 'object' && typeof spec !== 'function') || spec === null) return false;
  const standard = (spec as Partial<CallableSchema>)['~standard'];
  return typeof standard?.validate === 'function';
}

/** Whether it is one of the three kinds. */
export function isPayloadSpec(spec: unknown): spec is PayloadSpec {
  return isSchema(spec) || isBare(spec) || (typeof spec === 'function' && typeof spec.prototype === 'object');
}

/** Also one of another copy of this package. */
function isBare(spec: unknown): boolean {
  return typeof spec === 'object' && (spec as Partial<BarePayload<unknown>> | null)?.unchecked === true;
}
