import { type Literal, typeErrors } from './literal-types.js';

export interface Panel {
  readonly type: string;
  readonly options: object;
  readonly fieldConfig: { readonly defaults: { readonly custom?: object } };
}

/** The types of what only one kind of panel has, in the module with this name. */
const PANELS: Readonly<Record<string, string>> = {
  timeseries: '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen',
};

/** Grafana adds what is left out, and a JSON file has the values of its enumerations. */
const DECLARATIONS = `
type Written<T> = T extends string ? \`\${T}\`
  : T extends readonly (infer Item)[] ? Written<Item>[]
  : T extends object ? { [Field in keyof T]?: Written<T[Field]> }
  : T;`;

/** Returns what is wrong with a dashboard, by the types of Grafana. */
export function typeCheckDashboard(dashboard: { readonly panels: readonly Panel[] }): Promise<string[]> {
  const whole = { type: "import('@grafana/schema').Dashboard", value: dashboard };
  return typeErrors([whole, ...dashboard.panels.flatMap(literalsOf)], DECLARATIONS);
}

function literalsOf({ type, options, fieldConfig }: Panel): Literal[] {
  const module = PANELS[type];
  if (module === undefined) throw new Error(`no types are known for panels of type ${type}`);
  return [
    { type: `Written<import('${module}').Options>`, value: options },
    { type: `Written<import('${module}').FieldConfig>`, value: fieldConfig.defaults.custom ?? {} },
  ];
}
