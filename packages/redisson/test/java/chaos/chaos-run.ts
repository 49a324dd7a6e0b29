import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../../../../test/soak/random.js';
import { randomName } from '../../../../../test/support/random-name.js';
import { startRedis } from '../../../../../test/support/redis/start-redis.js';
import type { TestRedis } from '../../../../../test/support/redis/test-redis.js';
import { until } from '../../../../../test/support/until.js';
import { JavaPeer, type JavaQueue } from '../java-peer.js';
import type { ChaosSettings } from './chaos-settings.js';
import { NodeWorker } from './node-worker.js';
import { Ledger, type QueueVerdict } from './verdict.js';

/** Threads of each Java process that take messages. A killed process loses at most one message for each. */
const JAVA_THREADS = 2;
const PROCESSES_OF_A_SIDE = 2;
/** The number of timeouts that the client of a Java process may have while it starts, as Redisson's does on a busy machine. */
const MAX_TRIES = 5;
const TICK = 200;
const MAX_DELAY = 15_000;
const LEASE = 5000;
/** Leases of killed processes end, and what they held is handled again. */
const AFTERMATH = 120_000;

/** The result of a chaos run. */
export interface ChaosResult {
  /** The outcome for the queue that Java offers to and only Node handles. */
  readonly nodes: QueueVerdict;
  /** The outcome for the queue that both handle. */
  readonly shared: QueueVerdict;
  readonly kills: { readonly node: number; readonly java: number };
  /** The most messages that killed Java processes can have lost, because what `take()` returns is gone from Redis. */
  readonly maxLostByJava: number;
  /** The errors of `take()`. */
  readonly javaFailures: readonly string[];
}

/** Java and Node offer to two queues while their processes are killed one after the other. */
export async function runChaos(settings: ChaosSettings, log: (text: string) => void): Promise<ChaosResult> {
  const server = await startRedis();
  const run = new ChaosRun(settings, server);
  try {
    await run.start();
    await run.offerAndKill(log);
    await run.aftermath();
    return run.result();
  } finally {
    await run.end();
    await server.stop();
  }
}

/** A Java process, and how many of the messages that it took are in the ledger. */
interface JavaProcess {
  readonly peer: JavaPeer;
  counted: number;
}

class ChaosRun {
  readonly #random: Random;
  readonly #ledgers = { nodes: new Ledger(), shared: new Ledger() };
  readonly #queues = { nodes: randomName('nodes'), shared: randomName('shared') };
  readonly #node: (NodeWorker | undefined)[] = [];
  readonly #java: (JavaProcess | undefined)[] = [];
  readonly #javaFailures: string[] = [];
  readonly #kills = { node: 0, java: 0 };
  /** Java processes that were given up while they started; they may have taken messages. */
  #givenUp = 0;
  readonly #tasks: Promise<void>[] = [];

  constructor(
    private readonly settings: ChaosSettings,
    private readonly server: TestRedis,
  ) {
    this.#random = new Random(settings.seed);
  }

  async start(): Promise<void> {
    for (let at = 0; at < PROCESSES_OF_A_SIDE; at++) await Promise.all([this.#startNode(at), this.#startJava(at)]);
  }

  async offerAndKill(log: (text: string) => void): Promise<void> {
    const { lasts, messages, killEvery } = this.settings;
    const begun = performance.now();
    let [offered, killAt] = [0, killEvery];
    for (let now = 0; now < lasts; now = performance.now() - begun) {
      const wanted = Math.min(messages, Math.ceil((messages * (now + TICK)) / lasts));
      this.#offer(wanted - offered);
      offered = wanted;
      if (now >= killAt) {
        killAt += killEvery;
        this.#tasks.push(this.#killOne());
        const { node, java } = this.#kills;
        log(`${offered} of ${messages} offered; killed: ${node} Node and ${java} Java processes`);
      }
      await sleep(TICK);
    }
    await Promise.all(this.#tasks);
  }

  /** Waits until everything has come or is lost. */
  async aftermath(): Promise<void> {
    const { nodes, shared } = this.#ledgers;
    const isOver = () => {
      for (const java of this.#java) if (java) this.#count(java);
      return nodes.lost.length === 0 && shared.lost.length <= this.#maxLostByJava;
    };
    await until(isOver, { within: AFTERMATH, every: 200 }).catch(() => undefined);
    // Whatever is still delayed, or held by a killed process, comes by then.
    await sleep(MAX_DELAY + LEASE);
    isOver();
  }

  result(): ChaosResult {
    const { nodes, shared } = this.#ledgers;
    return {
      nodes: nodes.verdict(),
      shared: shared.verdict(),
      kills: this.#kills,
      maxLostByJava: this.#maxLostByJava,
      javaFailures: this.#javaFailures,
    };
  }

  async end(): Promise<void> {
    await Promise.allSettled(this.#tasks);
    await Promise.all([...this.#node.map((worker) => worker?.end()), ...this.#java.map((java) => java?.peer.end())]);
  }

  get #maxLostByJava(): number {
    return (this.#kills.java + this.#givenUp) * JAVA_THREADS;
  }

  async #startNode(at: number): Promise<void> {
    const { line } = this.settings;
    const format = line === '4' ? 'Bc0Lc0' : 'dLc0';
    const settings = {
      url: this.server.url,
      inRedisson: { codec: 'string', format },
      options: { concurrency: 50, lease: LEASE },
    } as const;
    const { nodes, shared } = this.#queues;
    const ledgerOf = { [nodes]: this.#ledgers.nodes, [shared]: this.#ledgers.shared };
    this.#node[at] = await NodeWorker.start({ ...settings, queues: [nodes, shared] }, (handled) =>
      ledgerOf[handled.queue]!.see('node', handled.value, handled.at),
    );
  }

  async #startJava(at: number, tries = 1): Promise<void> {
    const peer = await JavaPeer.start(this.settings.line);
    try {
      await peer.connect(this.server.url);
      // As in a Spring service, whoever asks for the delayed queue transfers its messages, too.
      await peer.startTransfer(this.#javaQueue('nodes'));
      await peer.consume(this.#javaQueue('shared'), JAVA_THREADS);
    } catch (error) {
      await peer.kill9();
      if (!peer.hasTimedOut || tries === MAX_TRIES) throw error;
      this.#givenUp++;
      return this.#startJava(at, tries + 1);
    }
    this.#java[at] = { peer, counted: 0 };
  }

  #javaQueue(name: 'nodes' | 'shared'): JavaQueue {
    return { queue: this.#queues[name], codec: 'string' };
  }

  /** Spreads so many messages over both queues and sides, each part with a delay of its own. */
  #offer(count: number): void {
    const names = ['nodes', 'shared'] as const;
    const parts = names.flatMap((name) => [
      { name, by: 'node' as const },
      { name, by: 'java' as const },
    ]);
    parts.forEach(({ name, by }, i) => {
      const share = Math.floor((count * (i + 1)) / parts.length) - Math.floor((count * i) / parts.length);
      if (share > 0) this.#tasks.push(this.#offerBy(by, name, share));
    });
  }

  async #offerBy(by: 'node' | 'java', name: 'nodes' | 'shared', count: number): Promise<void> {
    const ledger = this.#ledgers[name];
    const delay = this.#random.int(0, MAX_DELAY);
    const values = ledger.next(count, by, delay);
    const isOffered = by === 'node' ? this.#offerByNode(name, values, delay) : this.#offerByJava(name, values, delay);
    if (await isOffered) ledger.acknowledge(values);
  }

  /** @returns whether it is acknowledged; if not, its outcome is unknown, or nobody was there to make it */
  async #offerByNode(name: 'nodes' | 'shared', values: readonly string[], delay: number): Promise<boolean> {
    const worker = this.#anyOf(this.#node);
    return (await worker?.offer(this.#queues[name], values, delay)) ?? false;
  }

  async #offerByJava(name: 'nodes' | 'shared', values: readonly string[], delay: number): Promise<boolean> {
    const offering = this.#anyOf(this.#java)?.peer.offerMany(this.#javaQueue(name), values, delay, 4);
    const made = offering?.then(
      () => true,
      () => false,
    );
    return (await made) ?? false;
  }

  #anyOf<Process>(processes: readonly (Process | undefined)[]): Process | undefined {
    const alive = processes.filter((each) => each !== undefined);
    return alive.length === 0 ? undefined : this.#random.pick(alive);
  }

  async #killOne(): Promise<void> {
    const at = this.#random.int(0, PROCESSES_OF_A_SIDE - 1);
    if (this.#random.chance(0.5)) {
      const worker = this.#node[at];
      if (!worker) return;
      this.#node[at] = undefined;
      this.#kills.node++;
      await worker.kill9();
      await this.#startNode(at);
    } else {
      const java = this.#java[at];
      if (!java) return;
      this.#java[at] = undefined;
      this.#kills.java++;
      await java.peer.kill9();
      this.#count(java);
      this.#javaFailures.push(...java.peer.failures);
      await this.#startJava(at);
    }
  }

  #count(java: JavaProcess): void {
    const taken = java.peer.messages(this.#queues.shared);
    for (const { value, at } of taken.slice(java.counted)) this.#ledgers.shared.see('java', value.value as string, at);
    java.counted = taken.length;
  }
}
