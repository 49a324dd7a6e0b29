/** The property in which Jackson keeps the class of an object. */
export const CLASS = '@class';

/** Whether it is one of Java's own classes, most likely a map, and not an application's class with fields of its own. */
export function isJavasOwn(name: string): boolean {
  return name.startsWith('java.');
}
