/**
 * The building blocks of layouts outside this package. They are internal: a layout needs exactly the version of the package that it was
 * built for. `docs/internals/extending.md` explains how to write a layout.
 * @packageDocumentation
 */
import 'reflect-metadata';

// The interface of a layout, and its arguments.
export type {
  CodecMismatchCheck,
  Layout,
  LayoutAbilities,
  QueueAddress,
  QueueLayout,
  QueueToOpen,
} from '../store/layout.js';
export type { MessageBody, MessageCodec } from '../message/codec/message-codec.js';
export { NO_TYPE } from '../message/message-id.js';
export { PlainRouter, type Router } from '../store/router.js';
export { checkLayoutOptions, openQueue, type OpenQueue, type OptionRule, type OptionRules } from './layout-parts.js';

// The port that a layout's store implements.
export type { MessageStore, StoreLimits } from '../store/message-store.js';
export type { DueTime, Offer, OfferReceipt } from '../store/producer-store.js';
export type {
  Claim,
  ClaimReport,
  ClaimRequest,
  DueListener,
  Outcome,
  Settlement,
  SettleReport,
  TransferReport,
  TransferRequest,
  WakeSignal,
} from '../store/consumer-store.js';
export type {
  DeadSelection,
  PageRequest,
  QueueStatus,
  RedriveOptions,
  RepairReport,
  StoredMessage,
  StoredPage,
  TypeCountPage,
} from '../store/admin-store.js';

// The native store, which keeps claimed messages, and its scripts' arguments and replies.
export { NativeMessageStore } from '../store/native/native-store.js';
export { type NativeKeys, nativeKeysUnder } from '../store/native/native-keys.js';
export type { NeededCommand, Permissions } from '../redis/check/permissions.js';
export { commandsBesideNative, libraryBesideNative } from './layout-parts.js';
export {
  claimCall,
  dueArgument,
  offerDueArgument,
  pageArguments,
  transferArguments,
} from '../store/native/script-arguments.js';
export {
  readClaimReport,
  readQueueStatus,
  readReceipts,
  readRecord,
  readStoredPage,
  readTransferReport,
} from '../store/native/script-replies.js';
export { acceptsArgument, mayBeOversized, offerAccepted } from '../store/native/script-arguments.js';

export type { RedisConnections } from '../redis/redis-connections.js';
export type { RedisCommands } from '../redis/commands/redis-commands.js';
export type { LuaFolder, RedisFunction, RedisLibrary } from '../redis/script/redis-library.js';
export type { ScriptArgument, ScriptCall, ScriptReply } from '../redis/script/script-call.js';
export { ANSWER_GRACE, type Connection } from '../redis/connection/redis-connection.js';
export { explain } from '../redis/redis-errors.js';

// Background work.
export type { Clock } from '../timing/clock.js';
export type { BackgroundWork } from '../message/delay-queue-events.js';
export type { Events } from '../events/events.js';
export { RetriedWork, type WorkSettings } from './retried-work.js';

// Payloads.
export { writeJsonData } from '../message/codec/json-data.js';
export { showPath } from '../message/codec/json-copy.js';
export { type JsonLoss, lossOf, lossOfList } from '../message/codec/json-loss.js';
export { readContent, readPayload } from '../message/codec/message-codec.js';
export { isInstance, isStrayPromise } from '../message/failure.js';
export { recognizeAcrossCopies } from '../message/delay-queue-errors.js';
