import { type Command, Option } from 'commander';
import { type Examination, examine, type Finding } from 'nestjs-delay-queue/diagnosis';
import type { CommandLine } from '../command-line.js';
import { type CommonArguments, connectionOf, installedLayouts, layoutOf, serverOf } from '../connection-arguments.js';
import { Refusal } from '../exit-codes.js';
import { counted } from '../text/counted.js';

type DoctorArguments = Pick<Examination, 'scripting'>;

export function addDoctorCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('doctor [queue]')
    .description('check the settings of Redis and the permissions for a queue, and send a probe message')
    .addOption(
      new Option(
        '--scripting <way>',
        'the `scripting` of the module (default: functions where they are available)',
      ).choices(['functions', 'scripts']),
    )
    .action(async (queue: string | undefined, { scripting }: DoctorArguments, command: Command) => {
      const args = command.optsWithGlobals<CommonArguments>();
      const { prefix, timeout } = args;
      const place = { connection: connectionOf(args), prefix, offerTimeout: timeout, server: serverOf(args) };
      const layouts = await installedLayouts();
      let failed = 0;
      for await (const finding of examine({ ...place, queue, layout: await layoutOf(args), layouts, scripting })) {
        commandLine.reportFor(args).print(finding, () => linesOf(finding));
        if (finding.verdict === 'fail') failed++;
      }
      if (failed > 0) throw new Refusal(`${counted(failed, 'check')} failed.`);
    });
}

function linesOf({ verdict, check, found, advice }: Finding): string[] {
  const line = `${verdict.padEnd(4)}  ${check.padEnd(11)}  ${found}`;
  return advice ? [line, `${' '.repeat(19)}${advice}`] : [line];
}
