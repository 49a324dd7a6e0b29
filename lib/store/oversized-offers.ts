import { hasCode } from '../message/failure.js';
import type { Offer, OfferReceipt } from './producer-store.js';
import type { RedisCommands } from '../redis/commands/redis-commands.js';
import { notConnected } from '../redis/redis-errors.js';

/** The lowest `proto-max-bulk-len` that Redis can be given, bytes. */
const LOWEST_LIMIT = 1024 * 1024;

/** How many bytes of UTF-8 a unit of a string may take. */
const MAX_BYTES = 3;

const OVERSIZED: OfferReceipt = { outcome: 'oversized', dueAt: 0 };

/** Whether a body may be longer than some Redis accepts; with the default `maxPayloadBytes` none is. */
export function mayBeOversized({ body }: Offer): boolean {
  return body.length * MAX_BYTES > LOWEST_LIMIT && Buffer.byteLength(body) > LOWEST_LIMIT;
}

/**
 * Offers the messages that Redis accepts. It closes a connection on which an argument longer than `proto-max-bulk-len` begins, and
 * that takes all calls along that are under way, mostly without an error. So it is asked before a long one is sent.
 *
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

/** Whether Redis accepts an argument of so many bytes. Undefined: every Redis does, so it is not asked. */
export function acceptsArgument(commands: RedisCommands, key: string, bytes: number): Promise<boolean> | undefined {
  return bytes > LOWEST_LIMIT ? accepts(commands, key, bytes) : undefined;
}

/**
 * Asks with GETBIT, whose offsets have the same limit: unlike CONFIG, services that run Redis do not forbid it. If the user may not
 * send it either, the length is taken for accepted.
 */
async function accepts(commands: RedisCommands, key: string, bytes: number): Promise<boolean> {
  try {
    await commands.send('GETBIT', key, (bytes - 1) * 8);
    return true;
  } catch (error) {
    if (hasCode(error, 'STORE_REFUSED')) return !(error.cause as Error).message.includes('bit offset');
    // Only the question may have been carried out.
    throw hasCode(error, 'OUTCOME_UNKNOWN') ? notConnected('offer', 0, error.cause) : error;
  }
}
