import { hasCode } from '../../message/failure.js';
import { parseRecord } from '../partitioned/partition-record.js';
import { Repartitioned } from '../partitioned/partitions.js';
import { isErrorReply } from '../../redis/redis-errors.js';

/** Reads the refusal of `check-record.lua`; undefined for any other error. */
export function repartitioned(error: unknown): Repartitioned | undefined {
  if (!hasCode(error, 'STORE_REFUSED') || !isErrorReply(error.cause)) return undefined;
  const [, text] = /^REPARTITIONED ([\d ]+)/.exec(error.cause.message) ?? [];
  const record = text === undefined ? undefined : parseRecord(text.trim());
  return record && new Repartitioned(record);
}
