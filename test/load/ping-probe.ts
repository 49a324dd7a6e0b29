/** A client that sends PING to some servers at a steady pace, and tells in the end how long they took to answer. */
import { Redis } from 'ioredis';
import { once } from 'node:events';
import type { PingTimes } from './ping-watch.js';

const INTERVAL = 2;

const clients = process.argv.slice(2).map((url) => new Redis(url));
await Promise.all(clients.map((client) => client.ping()));
const times = clients.map((): number[] => []);
const underWay = new Set<Promise<void>>();

// At its pace whatever is still unanswered: one that waited would ask less often just while answers are slow.
const timer = setInterval(() => {
  for (const [i, client] of clients.entries()) {
    const sentAt = performance.now();
    const answered = client.ping().then(() => {
      times[i]!.push(performance.now() - sentAt);
      underWay.delete(answered);
    });
    underWay.add(answered);
  }
}, INTERVAL);

process.stdin.resume();
console.log('ready');
await once(process.stdin, 'end');
clearInterval(timer);
await Promise.all(underWay);
for (const client of clients) client.disconnect();

const report = times.map((unsorted): PingTimes => {
  const sorted = unsorted.sort((a, b) => a - b);
  const at = (share: number) => Math.round((sorted[Math.ceil(sorted.length * share) - 1] ?? NaN) * 10) / 10;
  return { pings: sorted.length, p50: at(0.5), p99: at(0.99), most: at(1) };
});
console.log(JSON.stringify(report));
