/** The property that holds the class of an object. */
export const CLASS = '@class';

/**
 * The classes of a Java application whose objects are payloads, by full name; `declare-classes` has a program that prints them. `final` or
 * `record` comes before the name of a final class or a record, and nested classes have a `$`: `com.shop.Order$Item`. An array lists the
 * constants of an enum in their order; an enum is final unless one of its constants has a body.
 * @example
 * ```ts
 * const classes: JavaClasses = {
 *   'com.shop.OrderTimeout': { orderId: 'String', amount: 'Long', items: 'List<com.shop.Item>', status: 'com.shop.Status' },
 *   'record com.shop.Item': { name: 'String', count: 'int' },
 *   'final com.shop.Status': ['NEW', 'PAID'],
 * };
 * ```
 */
export type JavaClasses = Readonly<Record<string, JavaFields | readonly string[]>>;

/**
 * The types of a class' fields by name: all that are neither static nor transient, those of its superclasses included. A type is written as
 * in Java: `int`, `Long`, `String[]`, `Map<String, com.shop.Item>`. Classes of `java.lang`, `java.util`, `java.math` and `java.time` need
 * no package, nor do `Timestamp` and those of `java.util.concurrent`; a type variable is written as its bound, usually `Object`.
 */
export type JavaFields = Readonly<Record<string, string>>;
