import type { Application } from './application.js';

/** A compiler, and what to add to the settings that `nest new` writes. */
export interface StockCompiler {
  readonly compiler: string;
  readonly options?: object;
}

export const STOCK_COMPILERS: readonly StockCompiler[] = [
  { compiler: 'typescript-5.7' },
  // To this one, some of what `nest new` of Nest 11 writes is deprecated, which is an error.
  { compiler: 'typescript-6.0', options: { ignoreDeprecations: '6.0' } },
];

/** Compiles one file, declarations too, under the application's own settings; returns what the compiler says. */
export async function compileStock(
  app: Application,
  file: string,
  { compiler, options }: StockCompiler,
): Promise<string> {
  const compilerOptions = { rootDir: '.', outDir: 'dist/stock', incremental: false, ...options };
  await app.write('tsconfig.stock.json', { extends: './tsconfig.json', compilerOptions, files: [file] });
  return app.command(process.execPath, [`node_modules/${compiler}/bin/tsc`, '-p', 'tsconfig.stock.json']);
}
