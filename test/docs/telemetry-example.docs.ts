import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { composeErrors } from './compose-schema.js';
import { parseYaml, ROOT } from './deployment-files.js';

const EXAMPLE = path.join(ROOT, 'examples/telemetry');

const read = (name: string) => readFile(path.join(EXAMPLE, name), 'utf8');
const [compose] = parseYaml(await read('compose.yaml')) as [ExampleCompose];
const [dashboards] = parseYaml(await read('grafana/dashboards.yaml')) as [
  { providers: [{ options: { path: string } }] },
];

interface ExampleCompose {
  readonly services: { readonly grafana: { readonly ports: readonly string[]; readonly volumes: readonly string[] } };
}

describe('Grafana in the telemetry example', () => {
  const { ports, volumes } = compose.services.grafana;
  const mounts = volumes.map((volume) => volume.split(':') as [source: string, target: string]);

  test('has a valid Compose file', () => {
    expect(composeErrors(compose)).toBeNull();
  });

  test('mounts existing files, among them the dashboard at its configured path', async () => {
    await Promise.all(mounts.map(([source]) => access(path.join(EXAMPLE, source))));
    const targets = mounts.map(([, target]) => path.posix.dirname(target));
    expect(targets).toContain(dashboards.providers[0].options.path);
  });

  test('publishes only the documented page and the endpoint for telemetry', async () => {
    const [, endpoint] = /^OTEL_EXPORTER_OTLP_ENDPOINT=http:\/\/(.+)$/m.exec(await read('grafana.env'))!;
    const [, page] = /<http:\/\/(127\.0\.0\.1:\d+)>/.exec(await read('README.md'))!;
    const published = ports.map((port) => port.replace(/:\d+$/, ''));
    expect(published.sort()).toEqual([page, endpoint].sort());
  });
});
