import { type Literal, typeErrors } from './literal-types.js';

/** The types of manifests, by version and kind. */
const TYPES: Readonly<Record<string, string>> = {
  'apps/v1 Deployment': "import('kubernetes-types/apps/v1').Deployment",
  'keda.sh/v1alpha1 ScaledObject': "import('@kubernetes-models/keda/keda.sh/v1alpha1').IScaledObject",
  'keda.sh/v1alpha1 TriggerAuthentication': "import('@kubernetes-models/keda/keda.sh/v1alpha1').ITriggerAuthentication",
};

/** Returns what is wrong with manifests, by the types of Kubernetes and KEDA. */
export function typeCheckManifests(manifests: readonly object[]): Promise<string[]> {
  return typeErrors(manifests.map(asLiteral));
}

function asLiteral(manifest: object): Literal {
  const { apiVersion, kind } = manifest as { readonly apiVersion: string; readonly kind: string };
  const type = TYPES[`${apiVersion} ${kind}`];
  if (type === undefined) throw new Error(`no type is known for ${apiVersion} ${kind}`);
  return { type, value: manifest };
}
