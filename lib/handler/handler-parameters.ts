import type { ArgumentMetadata, ExecutionContext, Type } from '@nestjs/common';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { ClassMethod } from './class-explorer.js';
import { placeOf } from './delayed-handler-decorator.js';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA } from './nest-internals.js';

/** A handler parameter that is not simply the argument at its index: it takes a decorator's value, or has pipes. */
export interface HandlerParameter {
  readonly index: number;
  readonly metadata: ArgumentMetadata;
  /** The classes and instances bound to this parameter alone. */
  readonly pipes: readonly unknown[];
  readonly read: (context: ExecutionContext) => unknown;
}

/** Metadata of a decorated parameter, under `type:index`. */
interface DecoratedParameter {
  readonly index: number;
  readonly data?: unknown;
  readonly pipes?: readonly unknown[];
  /** Set by decorators made with `createParamDecorator()`. */
  readonly factory?: (data: unknown, context: ExecutionContext) => unknown;
  readonly schema?: ArgumentMetadata['schema'];
}

const PAYLOAD_INDEX = 0;

/** The parameter type of `@Body()`, and of `@Payload()` from the microservices package. Here, both mean the payload. */
const BODY = '3';

/**
 * Returns the decorated parameters and that of the payload, which counts as a body because a ValidationPipe ignores other kinds. Throws
 * `INVALID_HANDLER` if a parameter needs a request.
 */
export function parametersOf(handler: ClassMethod): HandlerParameter[] {
  const decorated = Object.entries(metadataOf(handler));
  const parameters = decorated.map(([key, parameter]) => readDecorated(handler, key, parameter));
  if (parameters.some(({ index }) => index === PAYLOAD_INDEX)) return parameters;
  return [payloadOf(handler, { index: PAYLOAD_INDEX }), ...parameters];
}

export function hasDecoratedParameters(handler: ClassMethod): boolean {
  return Object.keys(metadataOf(handler)).length > 0;
}

function metadataOf({ prototype, name }: ClassMethod): Record<string, DecoratedParameter> {
  const found: unknown = Reflect.getMetadata(ROUTE_ARGS_METADATA, prototype.constructor, name);
  return (found as Record<string, DecoratedParameter> | undefined) ?? {};
}

function readDecorated(handler: ClassMethod, key: string, parameter: DecoratedParameter): HandlerParameter {
  const { factory, data } = parameter;
  if (factory) {
    const metadata = metadataFor(handler, parameter, 'custom');
    return { ...parameter, metadata, pipes: parameter.pipes ?? [], read: (context) => factory(data, context) };
  }
  if (key.startsWith(`${BODY}:`)) return payloadOf(handler, parameter);
  throw new DelayQueueError(
    'INVALID_HANDLER',
    `${placeOf(handler)}: parameter ${parameter.index} has a decorator that reads a part of a request, but a message has none; ` +
      'read the message, which is the second argument, or use a decorator made by createParamDecorator()',
  );
}

function payloadOf(handler: ClassMethod, parameter: DecoratedParameter): HandlerParameter {
  const { index, data, pipes = [] } = parameter;
  const read = (context: ExecutionContext) => {
    const payload = context.getArgByIndex<unknown>(PAYLOAD_INDEX);
    return typeof data === 'string' ? (payload as Record<string, unknown> | null | undefined)?.[data] : payload;
  };
  return { index, metadata: metadataFor(handler, parameter, 'body'), pipes, read };
}

function metadataFor(
  { prototype, name }: ClassMethod,
  { index, data, schema }: DecoratedParameter,
  type: ArgumentMetadata['type'],
): ArgumentMetadata {
  const types = Reflect.getMetadata(PARAMTYPES_METADATA, prototype, name) as readonly (Type | undefined)[] | undefined;
  return { type, metatype: types?.[index], data: data as string | undefined, ...(schema && { schema }) };
}
