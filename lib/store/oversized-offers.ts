import { hasCode } from '../message/failure.js';
import type { Offer, OfferReceipt } from './producer-store.js';
import type { RedisCommands } from '../redis/commands/redis-commands.js';
import { notConnected } from '../redis/redis-errors.js';

/** The lowest `proto-max-bulk-len` that Redis can be configured with, bytes. */
const LOWEST_LIMIT = 1024 * 1024;

/** Maximum number of UTF-8 bytes per UTF-16 unit of a string. */
const MAX_BYTES = 3;

const OVERSIZED: OfferReceipt = { outcome: 'oversized', dueAt: 0 };

/** True if some Redis servers may not accept the body. With the default `maxPayloadBytes`, all accept every body. */
export function mayBeOversized({ body }: Offer): boolean {
  return body.length * MAX_BYTES > LOWEST_LIMIT && Buffer.byteLength(body) > LOWEST_LIMIT;
}

/**
 * Offers the messages that Redis accepts. Redis closes a connection on which an argument longer than `proto-max-bulk-len` begins; all other
 * calls on it are lost, mostly without an error. So Redis is asked before a long argument is sent.
 * @param key - of a string, or of nothing, on the server of the queue
 * @param offer - offers those that are accepted
 */
export async function offerAccepted(
  commands: RedisCommands,
  key: string,
  offers: readonly Offer[],
  offer: (accepted: readonly Offer[]) => Promise<OfferReceipt[]>,
): Promise<OfferReceipt[]> {
  const isAccepted = await Promise.all(
    offers.map(async ({ body }) => (await acceptsArgument(commands, key, Buffer.byteLength(body))) ?? true),
  );
  const receipts = (await offer(offers.filter((_, i) => isAccepted[i]))).values();
  return isAccepted.map((accepted) => (accepted ? receipts.next().value! : OVERSIZED));
}

/** Resolves to true if Redis accepts an argument of this length. Undefined if every Redis does, so no question is needed. */
export function acceptsArgument(commands: RedisCommands, key: string, bytes: number): Promise<boolean> | undefined {
  return bytes > LOWEST_LIMIT ? accepts(commands, key, bytes) : undefined;
}

/** Asks with GETBIT, whose offsets have the same limit; services forbid CONFIG. True if the user may not send GETBIT either. */
async function accepts(commands: RedisCommands, key: string, bytes: number): Promise<boolean> {
  try {
    await commands.send('GETBIT', key, (bytes - 1) * 8);
    return true;
  } catch (error) {
    if (hasCode(error, 'STORE_REFUSED')) return !(error.cause as Error).message.includes('bit offset');
    // Only the question may have been carried out, not the offer.
    throw hasCode(error, 'OUTCOME_UNKNOWN') ? notConnected('offer', 0, error.cause) : error;
  }
}
