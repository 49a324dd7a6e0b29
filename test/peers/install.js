/** Installs the peers: those of the benchmark, and what the code on the page about BullMQ imports. */
import { fileURLToPath, URL } from 'node:url';
import { install } from '../../bench/install.js';

for (const folder of ['../../bench', '../../bench/nestjs-bullmq'])
  install(fileURLToPath(new URL(`${folder}/`, import.meta.url)));
