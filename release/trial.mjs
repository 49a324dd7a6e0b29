/** Runs in an application that has installed the packages which it is told: loads all that they export, and handles a message. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import console from 'node:console';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { DelayedHandler, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';

const require = createRequire(import.meta.url);

/** What is only there to say where it has gone. */
const MOVED = 'nestjs-delay-queue/redisson';

for (const name of process.argv.slice(2)) {
  const manifest = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
  for (const entry of Object.keys(manifest.exports).filter((key) => !/\.json$|\*/.test(key))) {
    await load(`${name}${entry.slice(1)}`, Object.keys(manifest.peerDependenciesMeta ?? {}));
  }
  for (const bin of Object.values(manifest.bin ?? {})) {
    assert.match(
      execFileSync(process.execPath, [`node_modules/${name}/${bin}`, '--help'], { encoding: 'utf8' }),
      /Usage/,
    );
  }
}
await handleMessage();

/** @param optional - packages that an application has only if it wants to */
async function load(entry, optional) {
  if (entry === MOVED) return assert.rejects(import(entry), /nestjs-delay-queue-redisson/);
  try {
    const imported = await import(entry);
    const required = require(entry);
    for (const key of Object.keys(required)) assert.equal(imported[key], required[key], `${entry}: ${key}`);
    console.log(`loaded ${entry}`);
  } catch (error) {
    if (!optional.some((name) => error.message.includes(`'${name}'`))) throw error;
    console.log(`needs an optional package: ${entry}`);
  }
}

async function handleMessage() {
  const handled = Promise.withResolvers();
  class Greetings {
    greet({ name }) {
      handled.resolve(name);
    }
  }
  DelayedHandler('greetings')(
    Greetings.prototype,
    'greet',
    Object.getOwnPropertyDescriptor(Greetings.prototype, 'greet'),
  );
  class AppModule {}
  Reflect.defineMetadata('imports', [DelayQueueModule.forRoot({ store: 'memory' })], AppModule);
  Reflect.defineMetadata('providers', [Greetings], AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  await app.get(DelayQueueProducer).offer('greetings', { name: 'Ada' }, 100);
  assert.equal(await handled.promise, 'Ada');
  await app.close();
  console.log('handled a message');
}
