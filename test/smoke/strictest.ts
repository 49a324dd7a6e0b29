/** The strictest compiler options that an application may use. */
export const STRICTEST = {
  target: 'es2022',
  types: ['node'],
  strict: true,
  // Also checks the package's declarations against those of its peers.
  skipLibCheck: false,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};
