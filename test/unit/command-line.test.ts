import { describe, expect, it } from '@jest/globals';
import { Approval } from '../../packages/cli/src/approval.js';
import { runCommandLine } from '../../packages/cli/src/program.js';
import { TestTerminal } from '../support/test-terminal.js';

/** No server runs there, so a command is rejected before it connects, or fails to connect. */
const NOWHERE = ['--url', 'redis://nowhere.invalid:1', '--timeout', '10ms'];

describe('the command line', () => {
  it.each([
    [['nonsense'], /unknown command 'nonsense'/],
    [['counts', '--nonsense'], /unknown option '--nonsense'/],
    [['show', 'orders'], /missing required argument 'id'/],
    [['counts', 'orders', 'more'], /too many arguments/],
    [['counts', 'orders', '--layout', 'other'], /Allowed choices are native, redisson/],
    [['counts', 'no spaces'], /queue name/],
    [['list', 'orders', 'gone'], /Allowed choices are delayed, ready, active, dead/],
    [['list', 'orders', 'dead', '--limit', 'all'], /whole number/],
    [['reschedule', 'orders', 'a', '5 parsecs', '--yes'], /not a duration/],
    [['reschedule', 'orders', 'a', '1M', '--yes'], /not a duration: .* m \(minutes\)/],
    [['counts', 'orders', '--timeout', 'soon'], /offerTimeout is not a duration/],
    [['counts', 'orders', '--prefix', 'a b'], /prefix must be/],
    [['counts', '--redisson-name', 'x', '--layout', 'redisson'], /defaults\.layout cannot be shared/],
    [['counts', 'orders', '--codec', 'string'], /need --layout redisson/],
    [['tail', 'orders', '--every', '1ms'], /--every must be between/],
    [['redrive', 'orders', '--yes'], /redrive <queue> <id>, redrive <queue> --all, or redrive <queue> --matching/],
    [
      ['discard', 'orders', 'a', '--all', '--yes'],
      /discard <queue> <id>, discard <queue> --all, or discard <queue> --matching/,
    ],
    [['counts', '--by-type'], /--by-type needs a queue/],
  ])('exits with code 2 and a one-line error: %j', async (words, expected) => {
    const terminal = new TestTerminal({ isTTY: false });
    expect(await runCommandLine([...NOWHERE, ...words], terminal)).toBe(2);
    expect(terminal.said).toMatch(expected);
    expect(terminal.said.trimEnd()).not.toContain('\n');
    expect(terminal.printed).toBe('');
  });

  it.each([
    [['cancel', 'orders', 'a']],
    [['reschedule', 'orders', 'a', '5m']],
    [['redrive', 'orders', 'a']],
    [['redrive', 'orders', '--all']],
    [['discard', 'orders', 'a']],
    [['discard', 'orders', '--all']],
    [['pause', 'orders']],
    [['resume', 'orders']],
  ])('changes nothing without --yes if there is no terminal: %j', async (words) => {
    const terminal = new TestTerminal({ isTTY: false });
    expect(await runCommandLine([...NOWHERE, ...words], terminal)).toBe(1);
    expect(terminal.said).toMatch(
      /^This would change Redis and needs a confirmation, but there is no terminal: add --yes\./,
    );
  });

  it.each(['--help', 'list --help'])('prints its help: %s', async (words) => {
    const terminal = new TestTerminal({ isTTY: false });
    expect(await runCommandLine(words.split(' '), terminal)).toBe(0);
    expect(terminal.printed).toMatch(/^Usage: nestjs-delay-queue-cli/);
  });

  it.each([
    ['--url', 'redis:/app:hunter2@127.0.0.1'],
    ['--url', 'redis://app:hunter2#@127.0.0.1'],
    ['--url', 'redis://127.0.0.1?password=hunter2'],
    ['--urll=redis://app:hunter2@127.0.0.1', '--json'],
    ['--urll', 'redis:/app:hunter2@127.0.0.1'],
  ])('never prints the password in a URL that it rejects: %s %s', async (...words) => {
    const terminal = new TestTerminal({ isTTY: false });
    expect(await runCommandLine(['queues', ...words], terminal)).toBe(2);
    expect(terminal.said).not.toContain('hunter2');
  });
});

describe('an approval', () => {
  const approvalOf = (terminal: TestTerminal, yes = false) => new Approval(terminal, yes);

  it.each(['y', 'yes', ' Y '])('is given by the answer %j on a terminal', async (answer) => {
    const terminal = new TestTerminal({ isTTY: true, answers: [`${answer}\n`] });
    approvalOf(terminal).assertPossible();
    await approvalOf(terminal).ask('Pause?');
    expect(terminal.said).toBe('Pause? [y/N] ');
  });

  it.each([
    ["'n'", ['n\n']],
    ['an empty line', ['\n']],
    ["'yesterday'", ['yesterday\n']],
    ['the end of the input', []],
  ])('is not given by %s', async (_what, answers) => {
    const terminal = new TestTerminal({ isTTY: true, answers });
    await expect(approvalOf(terminal).ask('Pause?')).rejects.toThrow('Nothing was changed.');
  });

  it('is not requested with --yes', async () => {
    const terminal = new TestTerminal({ isTTY: false });
    approvalOf(terminal, true).assertPossible();
    await approvalOf(terminal, true).ask('Pause?');
    expect(terminal.said).toBe('');
  });
});
