// Says which files an application loads that imports the package, and which more once it shares a queue with Java.
import 'reflect-metadata';
import '@nestjs/core';
import 'ioredis';
import console from 'node:console';
import { createRequire } from 'node:module';

const { cache } = createRequire(import.meta.url);
const loaded = () => Object.keys(cache).map((file) => file.replaceAll('\\', '/'));
const before = loaded();

await import('nestjs-delay-queue');
const imported = loaded().filter((file) => !before.includes(file));
await import('nestjs-delay-queue/redisson');
const used = loaded().filter((file) => !before.includes(file) && !imported.includes(file));
const own = (files) => files.flatMap((file) => file.split('/nestjs-delay-queue/dist/lib/cjs/')[1] ?? []).sort();
const foreign = imported.filter((file) => !file.includes('/nestjs-delay-queue/'));
console.log(
  JSON.stringify({
    own: own(imported),
    packages: [...new Set(foreign.map((file) => file.split('/node_modules/').at(-1).split('/')[0]))],
    used: own(used),
  }),
);
