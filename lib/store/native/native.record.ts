/** A record begins with its due time and the time of its offer, each 48-bit big-endian milliseconds (`lua/include/record.lua`). */
const DUE_BYTES = 6;
const PREFIX_BYTES = 12;

export interface NativeRecord {
  readonly dueAt: number;
  readonly offeredAt: number;
  readonly body: Buffer;
}

/** Reads a record. What is too short to be one was written by somebody else, and becomes the body as it is. */
export function readRecord(record: Buffer): NativeRecord {
  if (record.length < PREFIX_BYTES) return { dueAt: 0, offeredAt: 0, body: record };
  return {
    dueAt: record.readUIntBE(0, DUE_BYTES),
    offeredAt: record.readUIntBE(DUE_BYTES, PREFIX_BYTES - DUE_BYTES),
    body: record.subarray(PREFIX_BYTES),
  };
}
