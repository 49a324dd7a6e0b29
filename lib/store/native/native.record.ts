/** What precedes the body in a record: due and offered, 48-bit big-endian milliseconds each (`lua/include/record.lua`). */
const DUE_BYTES = 6;
const PREFIX_BYTES = 12;

export interface NativeRecord {
  readonly dueAt: number;
  readonly offeredAt: number;
  readonly body: Buffer;
}

export function readRecord(record: Buffer): NativeRecord {
  return {
    dueAt: record.readUIntBE(0, DUE_BYTES),
    offeredAt: record.readUIntBE(DUE_BYTES, PREFIX_BYTES - DUE_BYTES),
    body: record.subarray(PREFIX_BYTES),
  };
}
