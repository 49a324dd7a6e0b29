// What the tests read of the files that people copy. The whole of each is checked by its schema or its type.

/** A Compose file. */
export interface Compose {
  readonly services: {
    readonly redis: { readonly image: string; readonly command: string; readonly volumes: readonly string[] };
    readonly worker: {
      readonly environment: Readonly<Record<string, string>>;
      readonly deploy: { readonly replicas: number };
      readonly stop_grace_period: string;
    };
  };
  readonly volumes: object;
}

interface Manifest {
  readonly metadata: { readonly name: string };
}

interface Probe {
  readonly httpGet: object;
  readonly timeoutSeconds: number;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string } };
}

export interface Container {
  readonly ports: readonly object[];
  readonly env: readonly Variable[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly requests: { readonly memory: string }; readonly limits: object };
}

export interface Deployment extends Manifest {
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly strategy?: { readonly rollingUpdate: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: readonly [Container] };
    };
  };
}

export interface TriggerAuthentication extends Manifest {
  readonly spec: { readonly secretTargetRef: readonly { readonly name: string }[] };
}

export interface Trigger {
  readonly metadata: Readonly<Record<string, string>>;
  readonly authenticationRef?: { readonly name: string };
}

export interface ScaledObject extends Manifest {
  readonly spec: {
    readonly scaleTargetRef: object;
    readonly minReplicaCount: number;
    readonly triggers: readonly [Trigger];
  };
}
