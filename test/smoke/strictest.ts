/** Options of the compiler under which an application has the most to complain about. */
export const STRICTEST = {
  target: 'es2022',
  types: ['node'],
  strict: true,
  // The declarations of the package are checked too, against those of its peers.
  skipLibCheck: false,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};
