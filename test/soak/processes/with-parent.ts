/** Tells the process that started this one that it is ready. */
export function tellReady(): void {
  process.send?.('ready');
}

/** Resolves when the parent says that it is time to stop. A process whose parent is gone ends at once. */
export function whenToldToStop(): Promise<void> {
  process.on('disconnect', () => process.exit(1));
  return new Promise((resolve) => process.on('message', () => resolve()));
}
