/** A record begins with its due time and the time of its offer, each 48-bit big-endian milliseconds (`lua/modules/record.lua`). */
const DUE_BYTES = 6;
const PREFIX_BYTES = 12;

export interface NativeRecord {
  readonly dueAt: number;
  readonly offeredAt: number;
  readonly body: Buffer;
}

/** Reads a record from a range of bytes. A shorter value than a record was written by somebody else; all of it becomes the body. */
export function readRecord(bytes: Buffer, start = 0, end = bytes.length): NativeRecord {
  if (end - start < PREFIX_BYTES) return { dueAt: 0, offeredAt: 0, body: bytes.subarray(start, end) };
  return {
    dueAt: bytes.readUIntBE(start, DUE_BYTES),
    offeredAt: bytes.readUIntBE(start + DUE_BYTES, PREFIX_BYTES - DUE_BYTES),
    body: bytes.subarray(start + PREFIX_BYTES, end),
  };
}
