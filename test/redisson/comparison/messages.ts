/*
 * What both sides offer.
 */

const PAYLOAD_BYTES = 200;
const HOUR = 3_600_000;

/** Among the due times of the preloaded messages, so that an offer is no announcement. */
export const OFFER_DELAY = 2 * HOUR;

/** Of 200 bytes, each different. */
export function payloadOf(index: number): string {
  return String(index).padEnd(PAYLOAD_BYTES, '.');
}

export function payloads(count: number): string[] {
  return Array.from({ length: count }, (_, index) => payloadOf(index));
}

export function indexOf(payload: string): number {
  return Number.parseInt(payload, 10);
}

/** Far away, and in no order. */
export function randomDelay(): number {
  return Math.round(HOUR + 2 * HOUR * Math.random());
}
