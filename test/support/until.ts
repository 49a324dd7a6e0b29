import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL = 5;

/**
 * Waits until a condition holds.
 *
 * @param condition - asked again and again; a throw counts as no and is told of in the end
 * @param options - `within`: after how many ms this fails. Default 60 s: only a test that fails waits as long, and a busy machine takes its time.
 */
export async function until(
  condition: () => unknown,
  { within = 60_000, every = POLL_INTERVAL }: { within?: number; every?: number } = {},
): Promise<void> {
  const deadline = performance.now() + within;
  for (;;) {
    let problem: unknown;
    try {
      if (await condition()) return;
    } catch (error) {
      problem = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`Not so within ${within} ms: ${condition.toString()}`, { cause: problem });
    }
    await sleep(every);
  }
}
