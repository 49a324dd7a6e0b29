/** What precedes the body in a record: due and offered, 48-bit big-endian milliseconds each (`lua/include/record.lua`). */
const DUE_BYTES = 6;
const PREFIX_BYTES = 12;

export interface NativeRecord {
  readonly dueAt: number;
  readonly offeredAt: number;
  readonly body: Buffer;
}

/** What is too short to be a record was written by somebody else, and is shown as it is. */
export function readRecord(record: Buffer): NativeRecord {
  if (record.length < PREFIX_BYTES) return { dueAt: 0, offeredAt: 0, body: record };
  return {
    dueAt: record.readUIntBE(0, DUE_BYTES),
    offeredAt: record.readUIntBE(DUE_BYTES, PREFIX_BYTES - DUE_BYTES),
    body: record.subarray(PREFIX_BYTES),
  };
}
