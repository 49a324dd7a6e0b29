/** Tells the parent process that this one is ready. */
export function reportReady(): void {
  process.send?.('ready');
}

/** Resolves when the parent asks this process to stop. If the parent is gone, this process ends at once. */
export function whenAskedToStop(): Promise<void> {
  process.on('disconnect', () => process.exit(1));
  return new Promise((resolve) => process.on('message', () => resolve()));
}
