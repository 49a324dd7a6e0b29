import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import ms from 'ms';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { composeErrors } from './compose-schema.js';
import { parseYaml, readBlock, readDeploymentFile, readYaml, ROOT } from './deployment-files.js';
import type { Compose, Deployment, ScaledObject, Trigger, TriggerAuthentication } from './deployment-shapes.js';
import { typeCheckManifests } from './manifest-types.js';

const application = await readBlock('main.ts');
const [compose] = (await readYaml('compose.yaml')) as [Compose];
const deployments = (await readYaml('kubernetes.yaml')) as [Deployment, Deployment];
const [authentication, scaledObject] = (await readYaml('scaled-object.yaml')) as [TriggerAuthentication, ScaledObject];
const dockerfile = await readDeploymentFile('Dockerfile');

const [worker, producer] = deployments;
const podOf = ({ spec }: Deployment) => spec.template.spec;
const containerOf = (deployment: Deployment) => podOf(deployment).containers[0];
const duration = (text: string) => ms(text as ms.StringValue);

/** ms; "up to a second", and as much again for a machine that is busy. */
const MARGIN = 2000;

const shutdownTimeout = duration(/shutdownTimeout: '(.+?)'/.exec(application)![1]!);

describe('compose.yaml', () => {
  test('is a valid Compose file', () => {
    expect(composeErrors(compose)).toBeNull();
    expect(composeErrors({ services: { redis: { imag: 'redis' } } })).not.toBeNull();
  });

  test('runs a Redis that persists messages to disk and never evicts them', () => {
    const { command, volumes } = compose.services.redis;
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(volumes).toEqual(['redis-data:/data']);
    expect(compose.volumes).toHaveProperty('redis-data');
  });

  test('runs the Redis image of the page about testing, in a supported version', async () => {
    const { image } = compose.services.redis;
    expect(await readFile(path.join(ROOT, 'docs/testing-redis.md'), 'utf8')).toContain(`'${image}'`);
    expect(Number(/^redis:(\d+)/.exec(image)![1])).toBeGreaterThanOrEqual(7);
  });

  test('has two workers that know the address of Redis', () => {
    const { deploy, environment } = compose.services.worker;
    expect(deploy.replicas).toBe(2);
    expect(environment.REDIS_URL).toBe('redis://redis:6379');
    expect(application).toContain('REDIS_URL');
  });

  test('gives a worker more time to stop than it needs', () => {
    expect(duration(compose.services.worker.stop_grace_period)).toBeGreaterThanOrEqual(shutdownTimeout + MARGIN);
  });
});

describe('the Dockerfile', () => {
  test('is based on versions of Node.js that the package supports', async () => {
    const { engines } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
      engines: { node: string };
    };
    const versions = [...dockerfile.matchAll(/^FROM node:(\d+)-alpine/gm)].map(([, major]) => major!);
    expect(versions).toHaveLength(2);
    for (const major of versions) expect(engines.node).toMatch(new RegExp(`\\D${major}\\.`));
  });

  test('has an init process pass signals to node, without a shell or npm in between', () => {
    const lines = dockerfile.split('\n');
    expect(lines).toContain('ENTRYPOINT ["/sbin/tini", "--"]');
    expect(lines).toContain('CMD ["node", "dist/main.js"]');
    expect(lines).toContain('RUN apk add --no-cache tini');
    expect(application).toContain('app.enableShutdownHooks()');
  });

  test('names its unprivileged user by a number, as `runAsNonRoot` of Kubernetes demands', () => {
    expect(dockerfile).toMatch(/^USER [1-9]\d*$/m);
  });
});

describe('the Kubernetes manifests', () => {
  test('have no fields unknown to Kubernetes and KEDA', async () => {
    expect(await typeCheckManifests([...deployments, authentication, scaledObject])).toEqual([]);
    const misspelt = [
      { ...worker, spec: { ...worker.spec, replica: 2 } },
      { ...scaledObject, spec: { ...scaledObject.spec, replicaCount: 2 } },
    ];
    expect(await typeCheckManifests(misspelt)).toEqual([
      expect.stringContaining('"replica"'),
      expect.stringContaining('"replicaCount"'),
    ]);
  }, 60_000);

  test.each(deployments.map((deployment) => [deployment.metadata.name, deployment] as const))(
    'give %s more time to stop than it needs',
    (_name, deployment) => {
      const grace = podOf(deployment).terminationGracePeriodSeconds * 1000;
      expect(grace).toBeGreaterThanOrEqual(shutdownTimeout + MARGIN);
    },
  );

  test('probe existing paths, with a readiness timeout longer than that of the Redis check', () => {
    for (const deployment of deployments) {
      const { livenessProbe, readinessProbe, ports } = containerOf(deployment);
      expect(livenessProbe.httpGet).toEqual({ path: '/live', port: 'http' });
      expect(readinessProbe.httpGet).toEqual({ path: '/health', port: 'http' });
      // The health check waits for 1 s.
      expect(readinessProbe.timeoutSeconds).toBeGreaterThan(1);
      expect(ports).toEqual([{ name: 'http', containerPort: 3000 }]);
    }
    expect(application).toContain("PORT = '3000'");
  });

  test('select their own pods', () => {
    for (const { metadata, spec } of deployments) {
      expect(spec.selector.matchLabels).toEqual({ app: metadata.name });
      expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
    }
  });

  test('start a new worker before they stop an old one', () => {
    expect(worker.spec.strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
  });

  test('include a producer that handles no messages', () => {
    expect(containerOf(producer).env).toContainEqual({ name: 'CONSUME', value: 'false' });
    expect(application).toContain("consume: CONSUME !== 'false'");
  });

  test('set equal memory requests and limits, and no CPU limit', () => {
    for (const deployment of deployments) {
      const { requests, limits } = containerOf(deployment).resources;
      expect(limits).toEqual({ memory: requests.memory });
    }
  });
});

describe('the ScaledObject', () => {
  const { minReplicaCount, scaleTargetRef, triggers } = scaledObject.spec;
  const [trigger] = triggers;

  test('watches the ready messages of the queue that the application handles', () => {
    const [, queue = ''] = /@DelayedHandler\('(.+?)'/.exec(application) ?? [];
    expect(trigger.metadata.listName).toBe(nativeKeys('delay-queue', queue).ready);
  });

  test('scales the workers, but never to zero', () => {
    expect(scaleTargetRef).toEqual({ name: worker.metadata.name });
    expect(minReplicaCount).toBeGreaterThanOrEqual(1);
  });

  test("logs in to Redis with the Deployments' Secret", () => {
    const url = containerOf(worker).env.find(({ name }) => name === 'REDIS_URL');
    expect(trigger.authenticationRef?.name).toBe(authentication.metadata.name);
    expect(new Set(authentication.spec.secretTargetRef.map(({ name }) => name))).toEqual(
      new Set([url?.valueFrom?.secretKeyRef.name]),
    );
  });

  test('may use the documented Prometheus trigger instead', async () => {
    const [{ triggers: others }] = parseYaml(await readBlock('prometheus-trigger.yaml')) as [{ triggers: [Trigger] }];
    const changed = { ...scaledObject, spec: { ...scaledObject.spec, triggers: others } };
    expect(await typeCheckManifests([changed])).toEqual([]);
    expect(others[0].metadata.threshold).toBe(/CONCURRENCY = '(\d+)'/.exec(application)![1]);
  }, 60_000);
});
