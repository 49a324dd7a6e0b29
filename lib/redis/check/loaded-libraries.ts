import { hasCode } from '../../message/failure.js';
import type { RedisCommands } from '../commands/redis-commands.js';
import { isErrorReply } from '../redis-errors.js';
import { type LoadedLibrary, RedisLibrary } from '../script/redis-library.js';
import type { ScriptReply } from '../script/script-call.js';

/** Lists a server's libraries of any version of this package. @throws DelayQueueError like `RedisCommands.send` */
export async function listLibraries(commands: RedisCommands): Promise<LoadedLibrary[]> {
  const reply = await commands.send('FUNCTION', 'LIST', 'LIBRARYNAME', 'delay_queue_*', 'WITHCODE');
  const sources = reply.rest((each) => each.list(readSource).join(''));
  return sources.flatMap((source) => RedisLibrary.recognize(source) ?? []);
}

/** Reads a field of a library; empty if it is not the source. */
function readSource(fields: ScriptReply): string {
  if (fields.text() === 'library_code') return fields.text();
  fields.skip();
  return '';
}

/** Deletes a library; false if it was gone. Whoever needs it loads it again. @throws DelayQueueError like `RedisCommands.send` */
export async function deleteLibrary(commands: RedisCommands, { name }: LoadedLibrary): Promise<boolean> {
  try {
    await commands.send('FUNCTION', 'DELETE', name);
    return true;
  } catch (error) {
    const isGone =
      hasCode(error, 'STORE_REFUSED') && isErrorReply(error.cause) && error.cause.message.includes('not found');
    if (isGone) return false;
    throw error;
  }
}
