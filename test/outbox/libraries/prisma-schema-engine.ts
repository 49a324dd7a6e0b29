import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg';
import pgLibrary from 'pg';

/** Declared by TypeScript only together with the whole DOM. */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ readonly instance: { readonly exports: object } }>;
};

const FILTERS = { externalTables: [], externalEnums: [] };

/**
 * Creates the migration from an empty database to the schema, and applies it as `prisma migrate deploy` would. The engine is the one behind
 * the commands of `prisma migrate`, built for WebAssembly: the commands themselves download theirs.
 *
 * @returns the migration
 */
export async function migrate(connectionString: string, schema: string): Promise<string> {
  await load();
  const pool = new pgLibrary.Pool({ connectionString });
  const files = [{ path: 'schema.prisma', content: schema }];
  const migrations = await engine.SchemaEngine.new(
    { datamodels: files.map(({ path, content }) => [path, content]) },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool)),
  );
  try {
    const { stdout } = await migrations.diff({
      from: { tag: 'empty' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: null,
      filters: FILTERS,
    });
    const script = stdout ?? '';
    const migrationFile = { path: 'migration.sql', content: { tag: 'ok' as const, value: script } };
    await migrations.applyMigrations({
      filters: FILTERS,
      migrationsList: {
        baseDir: '.',
        lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
        shadowDbInitScript: '',
        migrationDirectories: [{ path: '20260101000000_outbox', migrationFile }],
      },
    });
    return script;
  } finally {
    migrations.free();
    await pool.end();
  }
}

async function load(): Promise<void> {
  const require = createRequire(import.meta.url);
  const bytes = await readFile(require.resolve('@prisma/schema-engine-wasm').replace('.js', '_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': engine });
  const exported = instance.exports as { readonly __wbindgen_start: () => void };
  engine.__wbg_set_wasm(exported);
  exported.__wbindgen_start();
}
