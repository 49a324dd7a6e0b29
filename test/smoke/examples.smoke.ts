import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Application } from './application.js';
import { OtlpReceiver } from './otlp-receiver.js';
import { type PackedPackage, packPackage, PROJECT } from './packed-package.js';

const EXAMPLES = join(PROJECT, 'examples');

const examples = (await readdir(EXAMPLES, { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe('the examples, with the packages installed from tarballs', () => {
  let library: PackedPackage;
  let outbox: PackedPackage;

  beforeAll(async () => {
    [library, outbox] = await Promise.all([packPackage(), packPackage('outbox')]);
  });
  afterAll(() => Promise.all([library.remove(), outbox.remove(), Application.removeAll()]));

  /** Runs the two commands that the README names. */
  async function run(example: string): Promise<string> {
    const app = await install(example);
    return app.command('npm', ['start', '--silent'], { env: { REDIS_URL: '' }, timeout: 120_000 });
  }

  async function install(example: string): Promise<Application> {
    const app = await Application.create();
    const isSource = (path: string) => !/[\\/](node_modules|dist)$/.test(path);
    await cp(join(EXAMPLES, example), app.folder, { recursive: true, filter: isSource });
    const needsOutbox = (await app.read('package.json')).includes('nestjs-delay-queue-outbox');
    await app.install(library.tarball, ...(needsOutbox ? [outbox.tarball] : []));
    return app;
  }

  it.each(examples)('include %s, which prints the output shown in its README and exits', async (example) => {
    const readme = await readFile(join(EXAMPLES, example, 'README.md'), 'utf8');
    const [, shown] = /^```text\n(.*?)^```$/ms.exec(readme) ?? [];
    const output = await run(example);
    if (shown === undefined) expect(output).toContain("name: 'process orders'");
    else expect(output).toBe(shown);
  });

  it("include telemetry that sends traces and metrics to Grafana's collector", async () => {
    const collector = await OtlpReceiver.start();
    try {
      const app = await install('telemetry');
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ORDERS: '3' };
      await app.command('npm', ['run', '--silent', 'start:grafana'], { env, timeout: 120_000 });
    } finally {
      await collector.stop();
    }
    expect(collector.received('/v1/traces')).toContain('process orders');
    expect(collector.received('/v1/metrics')).toContain('delay_queue.message.lateness');
  });
});
