/** The property in which Jackson keeps the class of an object. */
export const CLASS = '@class';

/** Whether a class is one of Java's, a map in all likelihood, and not one of an application, with fields of its own. */
export function isJavasOwn(name: string): boolean {
  return name.startsWith('java.');
}
