// Bundles a built application with all its packages into one file, as people do for a container or a cloud function.
// Run in the application's folder: node bundle.mjs <bundler> <format> <entry> <output>
import { basename, dirname, resolve } from 'node:path';
import process from 'node:process';

const [bundler, format, entry, output] = process.argv.slice(2);

/** Packages that Nest tries to load but does not need. */
const OPTIONAL = ['@nestjs/microservices', '@nestjs/websockets', 'class-transformer', 'class-validator'];

const BUNDLERS = { esbuild, webpack };
await BUNDLERS[bundler]();

async function esbuild() {
  const { build } = await import('esbuild');
  await build({
    entryPoints: [entry],
    outfile: output,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format,
    external: OPTIONAL,
    // CommonJS packages in the bundle require modules of Node.js.
    ...(format === 'esm' && {
      banner: {
        js: "import { createRequire as newRequire } from 'node:module'; const require = newRequire(import.meta.url);",
      },
    }),
    logLevel: 'warning',
  });
}

async function webpack() {
  const { default: pack } = await import('webpack');
  const isOptional = (request) => OPTIONAL.some((name) => request === name || request.startsWith(`${name}/`));
  const compiler = pack({
    mode: 'production',
    target: 'node20',
    // Minimizing would take most of the time.
    optimization: { minimize: false },
    entry: resolve(entry),
    output: { path: dirname(resolve(output)), filename: basename(output) },
    plugins: [new pack.IgnorePlugin({ checkResource: isOptional })],
  });
  const stats = await new Promise((done, fail) => compiler.run((error, all) => (error ? fail(error) : done(all))));
  if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
}
