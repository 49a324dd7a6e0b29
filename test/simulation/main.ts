import { realNow } from './world/host.js';
import { parseArgs } from 'node:util';
import type { FaultKind } from './nemesis/nemesis.js';
import { Simulation } from './simulation.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    messages: { type: 'string', default: '20000' },
    processes: { type: 'string' },
    faults: { type: 'string', default: 'all' },
    without: { type: 'string', default: '' },
    about: { type: 'string' },
    trace: { type: 'boolean', default: false },
    'go-on': { type: 'boolean', default: false },
  },
});

const numbers = (text: string) => text.split(',').filter(Boolean).map(Number);

setTimeout(() => {
  const startedAt = realNow();
  const cpu = process.cpuUsage();
  const result = new Simulation({
    seed: values.seed,
    messages: Number(values.messages),
    processes: values.processes === undefined ? undefined : Number(values.processes),
    faults: values.faults !== 'none',
    kinds: values.faults === 'all' || values.faults === 'none' ? undefined : (values.faults.split(',') as FaultKind[]),
    without: new Set(numbers(values.without)),
    isTraced: values.trace || values.about !== undefined,
    goesOn: values['go-on'],
  }).run();
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (realNow() - startedAt) / 1000;
  const cpuSeconds = (user + system) / 1e6;
  const { lives, events, virtualTime, starts, violations, digest } = result;
  const write = (line: string) => process.stdout.write(`${line}\n`);
  write(
    `seed ${values.seed}: ${lives} lives in ${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s of CPU): ` +
      `${Math.round((lives / cpuSeconds) * 60)} a minute of CPU; ${(events / lives).toFixed(1)} events a life, ` +
      `${((cpuSeconds / events) * 1e6).toFixed(1)} µs each; ${(virtualTime / 1000).toFixed(0)} s of virtual time, ` +
      `${starts} processes, ${(process.memoryUsage().heapUsed / 1e6).toFixed(0)} MB`,
  );
  write(JSON.stringify(result.counts));
  write(JSON.stringify(result.faults));
  write(`digest ${digest}`);
  for (const { promise, at, id, detail } of violations.slice(0, 20))
    write(`${(at / 1000).toFixed(3)} s ${promise}: ${id}: ${detail}`);
  if (values.trace || values.about !== undefined) {
    const about = values.about ?? '';
    for (const line of result.journal) if (line.includes(`${about} `) || line.includes('fault ')) write(line);
  }
  process.exit(violations.length > 0 ? 1 : 0);
}, 0);
