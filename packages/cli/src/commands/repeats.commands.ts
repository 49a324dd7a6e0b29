import { Argument, type Command } from 'commander';
import { DelayQueueError, type DelayQueueProducer, type RepeatingMessage } from 'nestjs-delay-queue';
import type { CommandLine } from '../command-line.js';
import { Refusal, WrongUsage } from '../exit-codes.js';
import { recordOfMessage, repeatText } from '../text/message-record.js';
import { tableOf } from '../text/table.js';

const ACTIONS = {
  pause: { question: 'Pause the repetition of', done: 'is paused' },
  resume: { question: 'Resume the repetition of', done: 'is resumed' },
  run: { question: 'Offer an extra occurrence now of', done: 'is due now' },
  end: { question: 'End the repetition of', done: 'no longer repeats' },
} as const;

type Action = keyof typeof ACTIONS;

export function addRepeatsCommands(program: Command, commandLine: CommandLine): void {
  program
    .command('repeats <queue>')
    .description('list the messages that repeat, with their rules and next times; reads the whole queue')
    .action((queue: string, _: object, command: Command) =>
      commandLine.look(command, [queue], async ({ producer, report, warnOfMissing }) => {
        const { messages, missing } = await allRepeats(producer, queue);
        warnOfMissing(queue, missing);
        report.print(messages.map(recordOfMessage), () =>
          tableOf(
            ['id', 'type', 'state', 'next', 'repeats'],
            messages.map(({ id, type, state, repeat, next }) => [
              ...[id, type, repeat.isPaused ? 'paused' : state, next[0]?.toISOString() ?? '', repeatText(repeat)],
            ]),
          ),
        );
      }),
    );
  program
    .command('repeat')
    .description('pause, resume or end the repetition of a message, or run an extra occurrence now')
    .addArgument(new Argument('<action>').choices(Object.keys(ACTIONS)))
    .argument('<queue>')
    .argument('<id>')
    .action((action: Action, queue: string, id: string, _: object, command: Command) =>
      commandLine.change(command, queue, async ({ producer, report, ask }) => {
        const { question, done } = ACTIONS[action];
        await ask(`${question} message '${id}' of queue '${queue}'`);
        const subject = await change(producer, action, { queue, id });
        if (subject === null) throw new Refusal(`No message '${id}' of queue '${queue}' repeats. Nothing was changed.`);
        report.print({ queue, id: subject, action }, () => `'${subject}' ${done}.`);
      }),
    );
}

/** Returns the id of the message that the action was about, or of the new one; null if there is none. */
async function change(
  producer: DelayQueueProducer,
  action: Action,
  { queue, id }: { queue: string; id: string },
): Promise<string | null> {
  const repeats = producer.repeats(queue);
  if (action === 'run') return (await repeats.runNow(id))?.id ?? null;
  try {
    return (await repeats[action](id)) ? id : null;
  } catch (error) {
    if (!(error instanceof DelayQueueError) || error.code !== 'INVALID_OPTION') throw error;
    const npx = 'npx -p nestjs-delay-queue-cli -p croner@11 nestjs-delay-queue-cli …';
    throw new WrongUsage(`To compute the next time, a package is needed beside the command line: ${npx}`);
  }
}

async function allRepeats(producer: DelayQueueProducer, queue: string) {
  const messages: RepeatingMessage[] = [];
  const missing = new Set<number>();
  let cursor: string | undefined;
  do {
    const page = await producer.repeats(queue).list({ limit: 1000, cursor });
    messages.push(...page.messages);
    page.missing?.forEach((partition) => missing.add(partition));
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return { messages, missing: [...missing] };
}
