import type { Command } from 'commander';
import { FunctionLibraries } from 'nestjs-delay-queue/diagnosis';
import type { CommandLine, ServerRun } from '../command-line.js';
import { connectionOf, installedLayouts } from '../connection-arguments.js';
import { Refusal } from '../exit-codes.js';

export function addDeleteFunctionsCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('delete-functions [libraries...]')
    .description('delete the function libraries of other versions from Redis, or the ones named')
    .action((names: readonly string[], _: object, command: Command) =>
      commandLine.changeServers(command, async (run) => {
        const { args } = run;
        const place = { connection: connectionOf(args), offerTimeout: args.timeout };
        const libraries = new FunctionLibraries({ ...place, layouts: await installedLayouts() });
        try {
          await deleteFrom(libraries, names, run);
        } finally {
          await libraries.close();
        }
      }),
    );
}

async function deleteFrom(libraries: FunctionLibraries, names: readonly string[], { ask, report }: ServerRun) {
  const loaded = await libraries.list();
  const missing = names.filter((name) => !loaded.some((library) => library.name === name));
  if (missing.length > 0) {
    throw new Refusal(`Redis has no library of delay queues called ${missing.join(', ')}. Nothing was changed.`);
  }
  const chosen = loaded.filter(({ name, isCurrent }) =>
    names.length > 0 ? names.includes(name) : isCurrent === false,
  );
  const toDelete = chosen.map(({ name }) => name);
  if (toDelete.length > 0) {
    await ask(`Delete the libraries${names.length > 0 ? '' : ' of other versions'} ${toDelete.join(', ')}`);
  }
  const deleted = await libraries.delete(toDelete);
  report.print(
    { deleted },
    () => `Deleted: ${deleted.join(', ') || 'nothing, because there are none of other versions'}.`,
  );
}
