import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { parse } from 'yaml';
import type { DelayQueueEvent, DelayQueueObserver } from '../../lib/index.js';
import { observeQueues, openTelemetry } from '../../lib/otel/index.js';
import { Prometheus, type PrometheusServer } from '../support/prometheus.js';
import { startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { type Panel, typeCheckDashboard } from './dashboard-types.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const ALERTS = path.join(ROOT, 'docs/prometheus-alerts.yml');

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

/** What Prometheus answers to a query. */
interface Answer {
  readonly result: readonly { readonly value: readonly [time: number, value: string] }[];
}

/** The rules that Prometheus has loaded. */
interface LoadedRules {
  readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
}

interface Dashboard {
  readonly panels: readonly (Panel & { readonly targets: readonly { readonly expr: string }[] })[];
}

const alerts = (parse(await readFile(ALERTS, 'utf8')) as Rules).groups.flatMap(({ rules }) => rules);
const dashboard = JSON.parse(await readFile(path.join(ROOT, 'docs/grafana-dashboard.json'), 'utf8')) as Dashboard;
const page = await readFile(path.join(ROOT, 'docs/observability.md'), 'utf8');
/** The dashboard's queries, with its variables filled in. */
const queries = dashboard.panels.flatMap(({ targets }) =>
  targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$queue', '.*')),
);

function preparePrometheus(): Prometheus | undefined {
  try {
    return new Prometheus();
  } catch (error) {
    console.warn(`SKIPPED: Prometheus cannot be had here, so the alerts are not evaluated: ${String(error)}`);
    return undefined;
  }
}

const prometheus = preparePrometheus();
const describeWithPrometheus = prometheus ? describe : describe.skip;

describeWithPrometheus('the alerts and the queries of the dashboard', () => {
  afterAll(() => prometheus!.remove());

  it('are valid for promtool', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'rules-'));
    const rules = queries.map((expr, i) => ({ record: `query_${i}`, expr }));
    const file = path.join(folder, 'dashboard.yml');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    await expect(prometheus!.check('check', 'rules', ALERTS, file)).resolves.toBeUndefined();
    await rm(folder, { recursive: true });
  });

  it('give the expected results for recorded data', async () => {
    const tests = path.join(ROOT, 'test/docs/prometheus-alerts.rules-test.yml');
    await expect(prometheus!.check('test', 'rules', tests)).resolves.toBeUndefined();
  });

  it('are loaded by a server that scrapes an application as on the page, and an alert fires', async () => {
    const exporter = new PrometheusExporter({ preventServerStart: true });
    const provider = new MeterProvider({ readers: [exporter] });
    metrics.setGlobalMeterProvider(provider);
    const application = createServer((request, response) => exporter.getMetricsRequestHandler(request, response));
    await once(application.listen(0, '127.0.0.1'), 'listening');
    const { port } = application.address() as AddressInfo;
    const app = await startTestApp({ store: 'memory' });
    const observer = openTelemetry();
    observeQueues(app.context, ['orders']);
    const [, block = ''] = /^# prometheus\.yml\n(.*?)^```$/ms.exec(page) ?? [];
    const configuration = parse(block.replace('localhost:3000', `127.0.0.1:${port}`)) as object;
    const global = { scrape_interval: '200ms', scrape_timeout: '200ms', evaluation_interval: '200ms' };
    let server: PrometheusServer | undefined;
    try {
      const running = (server = await prometheus!.start({ global, rule_files: [ALERTS], ...configuration }));
      const value = async (query: string) => {
        const { result } = (await running.ask(`query?query=${encodeURIComponent(query)}`)) as Answer;
        return result[0]?.value[1];
      };
      const offers = 'messaging_client_sent_messages_total{messaging_destination_name="orders"}';
      await until(async () => (await value('up')) === '1');
      expect(await value(offers)).toBeUndefined();
      await exercise(observer);
      await until(async () => (await value(offers)) === '1');
      const dead = 'delay_queue_dead_letters_created_total{delay_queue_death_cause="handler"}';
      await until(async () => (await value(dead)) === '1');
      observer.event!({ name: 'dead', ...MESSAGE, by: 'handler', failure: { name: 'Error', message: '' } });
      const firing = 'ALERTS{alertname="DelayQueueDeadLetters", alertstate="firing"}';
      await until(async () => (await value(firing)) === '1');
      const { groups } = (await running.ask('rules')) as LoadedRules;
      const loaded = groups.flatMap(({ rules }) => rules.map(({ name, health }) => `${name} ${health}`));
      expect(loaded).toEqual(alerts.map(({ alert }) => `${alert} ok`));
    } finally {
      await server?.stop();
      application.close();
      await app.close();
      await provider.shutdown();
      metrics.disable();
    }
  });
});

it('the dashboard has no fields and values unknown to Grafana', async () => {
  expect(await typeCheckDashboard(dashboard)).toEqual([]);
  const [first, ...rest] = dashboard.panels;
  const misspelt = { ...first!, gridPosition: {}, options: { ...first!.options, legend: { placement: 'below' } } };
  expect(await typeCheckDashboard({ panels: [misspelt, ...rest] })).toEqual([
    expect.stringContaining('gridPosition'),
    expect.stringContaining('"below"'),
  ]);
}, 60_000);

it('each alert fires in a test with recorded data', async () => {
  const tests = await readFile(path.join(ROOT, 'test/docs/prometheus-alerts.rules-test.yml'), 'utf8');
  const fired = [...tests.matchAll(/alertname: (\w+)\s+exp_alerts:/g)].map(([, name]) => name);
  expect(alerts.map(({ alert }) => alert).filter((name) => !fired.includes(name))).toEqual([]);
});

const MESSAGE = { queue: 'orders', id: 'm', type: 't', attempt: 1 };

const EVENTS: readonly DelayQueueEvent[] = [
  { name: 'transferred', queue: 'orders', count: 1 },
  { name: 'dead', ...MESSAGE, by: 'handler', failure: { name: 'Error', message: '' } },
  { name: 'expired', queue: 'orders', id: 'm', type: 't', lateBy: 1, became: 'gone' },
  { name: 'dead-letters-dropped', queue: 'orders', count: 1 },
  { name: 'lease-lost', queue: 'orders', id: 'm' },
  { name: 'leases-expired', queue: 'orders', recovered: 1, deadLettered: 0 },
  { name: 'work-failing', queue: 'orders', work: 'claim', reason: '', lasted: 0 },
];

/** Makes an observer measure everything that it measures. */
async function exercise(observer: DelayQueueObserver): Promise<void> {
  const offer = { queue: 'orders', messages: [{ ...MESSAGE, headers: {} }], carriesHeaders: true };
  await Promise.resolve(observer.offer!(offer, () => Promise.reject(new Error()))).catch(() => undefined);
  const due = new Date();
  const { signal } = new AbortController();
  const message = { ...MESSAGE, payload: 1, headers: {}, lateness: 1, dueAt: due, offeredAt: due, signal };
  await observer.handle!(message, () => ({ kind: 'retry', delay: 1, error: new Error() }));
  for (const event of EVENTS) observer.event!(event);
}

describe('the Prometheus exporter', () => {
  let exported: string;
  let names: Set<string>;
  let measured: { readonly name: string; readonly unit: string }[];

  beforeAll(async () => {
    const exporter = new PrometheusExporter({ preventServerStart: true });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));
    const app = await startTestApp({ store: 'memory' });
    observeQueues(app.context, ['orders']);
    await exercise(openTelemetry());
    const { resourceMetrics } = await exporter.collect();
    exported = new PrometheusSerializer().serialize(resourceMetrics);
    names = new Set(exported.match(/\b(?:messaging|delay_queue|error)_\w+/g));
    measured = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics.map(({ descriptor }) => descriptor));
    await app.close();
    metrics.disable();
  });

  it.each([
    ['alerts', alerts.map(({ expr }) => expr)],
    ['dashboard', queries],
  ])('writes every metric and label used in the %s', (_what, expressions) => {
    const asked = expressions
      .map((expression) => expression.replaceAll('(_seconds)?', ''))
      .flatMap((expression) => expression.match(/\b(?:messaging|delay_queue|error)_\w+(?:\([\w|]+\)\w+)?/g) ?? [])
      .flatMap(alternativesOf);
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.filter((name) => !names.has(name))).toEqual([]);
  });

  it('writes the metrics that the observability page lists, and no others', () => {
    const listed = [...page.matchAll(/^\| `((?:messaging|delay_queue)\.[\w.]+)` +\| (?:counter|histogram|gauge)/gm)];
    expect(listed.map(([, name]) => name).sort()).toEqual(measured.map(({ name }) => name).sort());
  });
});

/** `a_(b|c)_d` stands for `a_b_d` and `a_c_d`. */
function alternativesOf(name: string): string[] {
  const [, before, choices, after] = /^(\w+)\(([\w|]+)\)(\w+)$/.exec(name) ?? [];
  return choices === undefined ? [name] : choices.split('|').map((choice) => `${before}${choice}${after}`);
}
