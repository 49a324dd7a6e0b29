/** Measures the layout 'redisson' beside real Redisson: `npm run compare:redisson`. */
import { Redis } from 'ioredis';
import { writeFileSync } from 'node:fs';
import { startRedis } from '../../support/redis/start-redis.js';
import { missingJava } from '../java-build.js';
import { type Command, readCommand, USAGE } from './command-line.js';
import { compare } from './comparison.js';
import type { Contestant } from './contestant.js';
import { readEnvironment } from './environment.js';
import { OurContestant } from './ours.contestant.js';
import { RedissonContestant } from './redisson.contestant.js';
import { toMarkdown } from './table.js';

async function run({ extent, rounds, lines, out }: Command): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.url);
  const contestants: Contestant[] = [];
  try {
    contestants.push(await OurContestant.start(server.url));
    for (const line of lines) contestants.push(await RedissonContestant.start(line, server.url, redis));
    const titles = contestants.map(({ title }) => title);
    const environment = await readEnvironment(redis);
    const rows = await compare(contestants, { redis, extent, rounds, say: (text) => console.error(text) });
    console.log(`\n${toMarkdown(titles, rows)}\n`);
    for (const [name, value] of Object.entries(environment)) console.log(`${name}: ${value}`);
    console.log(`rounds: ${rounds}`);
    if (out !== undefined) writeFileSync(out, JSON.stringify({ environment, extent, rounds, titles, rows }, null, 2));
  } finally {
    await Promise.all(contestants.map((contestant) => contestant.end()));
    redis.disconnect();
    await server.stop();
  }
}

const problem = missingJava();
if (problem !== undefined) {
  console.error(problem);
  process.exitCode = 1;
} else {
  try {
    await run(readCommand(process.argv.slice(2)));
  } catch (error) {
    console.error(error, `\n${USAGE}`);
    process.exitCode = 1;
  }
}
