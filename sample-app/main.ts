import 'reflect-metadata';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { readSettings } from './settings.js';
import { guardRequests } from './requests/guard-requests.js';
import { ShopLogger } from './shop-logger.js';
import { StartError } from './start-error.js';
import { openStore } from './store/open-store.js';

const HOST = '127.0.0.1';

async function start(): Promise<void> {
  const settings = readSettings(process.env);
  const store = await openStore(settings);
  const app = await NestFactory.create<NestExpressApplication>(AppModule.on(store), {
    logger: new ShopLogger({ logLevels: ['log', 'warn', 'error'] }),
    bodyParser: false,
    // Event streams never end by themselves, so the server would wait for them.
    forceCloseConnections: true,
  });
  guardRequests(app, settings.allowedHosts);
  app.useStaticAssets(join(import.meta.dirname, 'public'));
  app.enableShutdownHooks();
  await listen(app, settings.port);
  const logger = new Logger('Shop');
  logger.log(`Store: ${store.label}`);
  logger.log(`Open ${await app.getUrl()}`);
}

async function listen(app: NestExpressApplication, port: number): Promise<void> {
  try {
    await app.listen(port, HOST);
  } catch (error) {
    await app.close();
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new StartError(`Port ${port} is in use. Choose another: PORT=${port + 1} npm start`);
  }
}

try {
  await start();
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
}
