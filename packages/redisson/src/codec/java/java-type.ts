/** The type of a field, parsed. */
export interface JavaType {
  /** The name as in Java's `Class.getName()`: `int`, `java.util.List`, `[I`, `[Ljava.lang.String;`. */
  readonly name: string;
  /** The type arguments; undefined if there are none. */
  readonly arguments?: readonly JavaType[];
  /** The type of the elements, if this is an array. */
  readonly element?: JavaType;
}

/** The codes of the primitive types in the names of array classes. */
export const PRIMITIVES: ReadonlyMap<string, string> = new Map([
  ['boolean', 'Z'],
  ['byte', 'B'],
  ['char', 'C'],
  ['short', 'S'],
  ['int', 'I'],
  ['long', 'J'],
  ['float', 'F'],
  ['double', 'D'],
]);

export const OBJECT: JavaType = { name: 'java.lang.Object' };

/** Returns the class of an array of these elements, with their type arguments, as in Java's reflection. */
export function arrayOf(element: JavaType): JavaType {
  const code = element.name.startsWith('[') ? element.name : (PRIMITIVES.get(element.name) ?? `L${element.name};`);
  return { name: `[${code}`, element, ...(element.arguments && { arguments: element.arguments }) };
}

/** Reads the name of a class as Java prints it: the opposite of {@link JavaType.name}. */
export function typeOfName(name: string): JavaType | undefined {
  const [, dimensions, code, className] = /^(\[*)(?:([ZBCSIJFD])|L([^;[]+);)$/.exec(name) ?? [];
  if (dimensions === undefined) return name.startsWith('[') || name === '' ? undefined : { name };
  if (dimensions === '') return { name };
  const element = className ?? [...PRIMITIVES].find(([, each]) => each === code)![0];
  return [...dimensions].reduce<JavaType>((type) => arrayOf(type), { name: element });
}
