/**
 * What a layout outside of this package is made of. It follows the inside of the package: a layout needs exactly the version that it was
 * built for.
 *
 * @packageDocumentation
 */
import 'reflect-metadata';
export { type Events } from '../events/events.js';
export { FailureStreak, workFailures } from '../events/failure-streak.js';
export { recognizeAcrossCopies } from '../message/across-copies.js';
export { showPath } from '../message/codec/json-copy.js';
export { writeJsonData } from '../message/codec/json-data.js';
export { type JsonLoss, lossOf, lossOfList } from '../message/codec/json-loss.js';
export { type MessageBody, type MessageCodec } from '../message/codec/message-codec.js';
export { readContent, readPayload } from '../message/codec/read-content.js';
export { hasCode, isInstance, isStrayPromise } from '../message/failure.js';
export { NO_TYPE } from '../message/message-type.js';
export { check } from '../options/check.js';
export { mustBe, oneOf } from '../options/values-schema.js';
export { type NeededCommand, neededCommands, type Permissions } from '../redis/check/permissions.js';
export { type RedisCommands } from '../redis/commands/redis-commands.js';
export { ANSWER_GRACE, type Connection } from '../redis/connection/redis-connection.js';
export { type RedisConnections } from '../redis/redis-connections.js';
export { explain, isErrorReply } from '../redis/redis-errors.js';
export { loadScript, type RedisScript } from '../redis/script/redis-script.js';
export { type ScriptArgument, type ScriptCall } from '../redis/script/script-call.js';
export { type ScriptReply } from '../redis/script/script-reply.js';
export {
  type DeadSelection,
  type PageRequest,
  type QueueStatus,
  type RedriveOptions,
  type RepairReport,
  type StoredMessage,
  type StoredPage,
  type TypeCountPage,
} from '../store/admin-store.js';
export {
  type Claim,
  type ClaimReport,
  type ClaimRequest,
  type DueListener,
  type Outcome,
  type Settlement,
  type SettleReport,
  type TransferReport,
  type TransferRequest,
  type WakeSignal,
} from '../store/consumer-store.js';
export { type CodecDoubt, type LayoutAbilities, type QueueAddress, type QueueToOpen } from '../store/layout.js';
export { type MessageStore, type StoreLimits } from '../store/message-store.js';
export { readLua as readNativeLua } from '../store/native/lua-files.js';
export { type NativeKeys, nativeKeysUnder } from '../store/native/native-keys.js';
export { nativePermissions, neededInCluster } from '../store/native/native-permissions.js';
export { readRecord } from '../store/native/native-record.js';
export { NativeMessageStore } from '../store/native/native-store.js';
export { claimCall, dueArgument, pageArguments, transferArguments } from '../store/native/script-arguments.js';
export {
  readClaimReport,
  readQueueStatus,
  readReceipts,
  readStoredPage,
  readTransferReport,
} from '../store/native/script-replies.js';
export { acceptsArgument, mayBeOversized, offerAccepted } from '../store/oversized-offers.js';
export { type DueTime, type Offer, type OfferReceipt } from '../store/producer-store.js';
export { PlainRouter, type Router } from '../store/router.js';
export { type Clock } from '../timing/clock.js';
export { failurePause } from '../timing/failure-pause.js';
export { Pauses } from '../timing/pauses.js';
export { openQueue, type OpenQueue } from './open-queue.js';
