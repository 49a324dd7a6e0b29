/**
 * All the Nest internals that the library uses: the building blocks of Nest's own transports. The import paths work with Nest 11 and 12,
 * both unbundled and bundled, as `test/smoke` shows.
 */
export {
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  INTERCEPTORS_METADATA,
  PARAMTYPES_METADATA,
  PIPES_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
export { BaseExceptionFilterContext } from '@nestjs/core/exceptions/base-exception-filter-context.js';
export { FORBIDDEN_MESSAGE, GuardsContextCreator } from '@nestjs/core/guards/index.js';
export { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
export type { Module } from '@nestjs/core/injector/module.js';
export type { ContextId, InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
export { InterceptorsConsumer, InterceptorsContextCreator } from '@nestjs/core/interceptors/index.js';
export { PipesContextCreator } from '@nestjs/core/pipes/index.js';
export { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants.js';
