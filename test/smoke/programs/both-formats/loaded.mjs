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
await import('nestjs-delay-queue-redisson');
const used = loaded().filter((file) => !before.includes(file) && !imported.includes(file));
const FILE = /\/nestjs-delay-queue(-redisson)?\/dist(?:\/lib)?\/cjs\/(.*)$/;
const own = (files) =>
  files
    .map((file) => FILE.exec(file))
    .flatMap((found) => found && [found[1] ? `${found[1]} ${found[2]}` : found[2]])
    .filter(Boolean)
    .sort();
const foreign = imported.filter((file) => !/\/nestjs-delay-queue(-redisson)?\//.test(file));
console.log(
  JSON.stringify({
    own: own(imported),
    packages: [...new Set(foreign.map((file) => file.split('/node_modules/').at(-1).split('/')[0]))],
    used: own(used),
  }),
);
