/** Probes some servers, each with a client of its own, until its input ends; then prints how long they took to answer. */
import { Redis } from 'ioredis';
import { once } from 'node:events';
import { PingProbe } from '../../bench/src/measure/ping-probe.js';

const clients = process.argv.slice(2).map((url) => new Redis(url));
await Promise.all(clients.map((client) => client.ping()));
const probes = clients.map((client) => new PingProbe(client));

process.stdin.resume();
console.log('ready');
await once(process.stdin, 'end');
const report = await Promise.all(probes.map((probe) => probe.stop()));
for (const client of clients) client.disconnect();
console.log(JSON.stringify(report));
