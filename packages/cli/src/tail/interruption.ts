import process from 'node:process';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Runs something until Ctrl-C, which ends it in an orderly way. A second Ctrl-C ends the process. */
export async function untilInterrupted(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const interrupt = () => {
    stopListening();
    controller.abort();
  };
  const stopListening = () => SIGNALS.forEach((signal) => process.off(signal, interrupt));
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    await run(controller.signal);
  } finally {
    stopListening();
  }
}
