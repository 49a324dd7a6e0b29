import type { Command } from 'commander';
import { assertQueueName } from '../../message/queue-name.js';
import { resolveModuleOptions } from '../../options/resolve-options.js';
import type { CommandLine } from '../command-line.js';
import { type CommonArguments, layoutOf, moduleOptionsOf, serverOf } from '../connection-arguments.js';
import { Doctor } from '../doctor/doctor.js';
import type { Finding } from '../doctor/finding.js';
import { Refusal } from '../exit-codes.js';
import { counted } from '../text/counted.js';

export function addDoctorCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('doctor [queue]')
    .description('check Redis for what delay queues need, and the permissions for a queue; send a probe message')
    .action(async (queue: string | undefined, _: object, command: Command) => {
      const args = command.optsWithGlobals<CommonArguments>();
      if (queue !== undefined) assertQueueName(queue);
      const doctor = new Doctor({
        options: resolveModuleOptions(moduleOptionsOf(args, queue === undefined ? [] : [queue])),
        server: serverOf(args),
        ...(queue !== undefined && { examined: { queue, layout: layoutOf(args) } }),
      });
      let failed = 0;
      try {
        for await (const finding of doctor.examine()) {
          commandLine.reportFor(args).print(finding, () => linesOf(finding));
          if (finding.verdict === 'fail') failed++;
        }
      } finally {
        await doctor.close();
      }
      if (failed > 0) throw new Refusal(`${counted(failed, 'check')} failed.`);
    });
}

function linesOf({ verdict, check, found, advice }: Finding): string[] {
  const line = `${verdict.padEnd(4)}  ${check.padEnd(11)}  ${found}`;
  return advice ? [line, `${' '.repeat(19)}${advice}`] : [line];
}
