/** Boxed values and texts have numbers in Kryo's registry. The numbers 0 and 1 stand for null and for a class by name. */
const REGISTERED = [
  'java.lang.Integer',
  'java.lang.String',
  'java.lang.Float',
  'java.lang.Boolean',
  'java.lang.Byte',
  'java.lang.Character',
  'java.lang.Short',
  'java.lang.Long',
  'java.lang.Double',
];
const FIRST = 2;

export const NULL_CLASS = 0;
export const NAMED_CLASS = 1;

const idsByName: ReadonlyMap<string, number> = new Map(REGISTERED.map((name, i) => [name, i + FIRST]));

/** Returns the number of a class; undefined if it is written by name. */
export function idOf(name: string): number | undefined {
  return idsByName.get(name);
}

/** Returns the class of a number; undefined if Kryo gives it to no class. */
export function nameOf(id: number): string | undefined {
  return REGISTERED[id - FIRST];
}
