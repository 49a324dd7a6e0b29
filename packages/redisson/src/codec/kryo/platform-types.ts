import { type ClassModel, type EnumClass, type FieldsClass, isFinal } from '../java/class-model.js';
import { type JavaType, typeOfName } from '../java/java-type.js';

/** The direct supertypes of Java's own classes, as far as fields are declared with them. */
const SUPERTYPES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    'java.lang.Number java.lang.Comparable':
      'java.lang.Integer java.lang.Long java.lang.Short java.lang.Byte java.lang.Float java.lang.Double java.math.BigInteger java.math.BigDecimal',
    'java.lang.Number': 'java.util.concurrent.atomic.AtomicInteger java.util.concurrent.atomic.AtomicLong',
    'java.lang.CharSequence java.lang.Comparable': 'java.lang.String java.lang.StringBuilder java.lang.StringBuffer',
    'java.lang.Comparable':
      'java.lang.Boolean java.lang.Character java.util.Date java.util.Calendar java.util.UUID java.net.URI ' +
      'java.time.Instant java.time.Duration java.time.LocalDate java.time.LocalTime java.time.LocalDateTime java.time.OffsetTime ' +
      'java.time.OffsetDateTime java.time.ZonedDateTime java.time.Year java.time.YearMonth java.time.MonthDay ' +
      'java.time.DayOfWeek java.time.Month java.util.concurrent.TimeUnit',
    'java.util.Date': 'java.sql.Timestamp java.sql.Date java.sql.Time',
    'java.util.Calendar': 'java.util.GregorianCalendar',
    'java.time.ZoneId': 'java.time.ZoneRegion',
    'java.time.ZoneId java.lang.Comparable': 'java.time.ZoneOffset',
    'java.lang.Iterable': 'java.util.Collection',
    'java.util.Collection': 'java.util.List java.util.Set java.util.Queue',
    'java.util.List':
      'java.util.ArrayList java.util.Vector java.util.Arrays$ArrayList java.util.concurrent.CopyOnWriteArrayList ' +
      'java.util.ImmutableCollections$List12 java.util.ImmutableCollections$ListN java.util.ImmutableCollections$SubList ' +
      'java.util.Collections$EmptyList java.util.Collections$SingletonList',
    'java.util.List java.util.Deque': 'java.util.LinkedList',
    'java.util.Vector': 'java.util.Stack',
    'java.util.Queue': 'java.util.Deque java.util.PriorityQueue java.util.concurrent.ConcurrentLinkedQueue',
    'java.util.Deque': 'java.util.ArrayDeque java.util.concurrent.ConcurrentLinkedDeque',
    'java.util.Set':
      'java.util.HashSet java.util.SortedSet java.util.concurrent.CopyOnWriteArraySet java.util.ImmutableCollections$Set12 ' +
      'java.util.ImmutableCollections$SetN java.util.Collections$EmptySet java.util.Collections$SingletonSet',
    'java.util.HashSet': 'java.util.LinkedHashSet',
    'java.util.SortedSet': 'java.util.NavigableSet',
    'java.util.NavigableSet': 'java.util.TreeSet java.util.concurrent.ConcurrentSkipListSet',
    'java.util.Map':
      'java.util.HashMap java.util.WeakHashMap java.util.Hashtable java.util.SortedMap java.util.concurrent.ConcurrentMap ' +
      'java.util.ImmutableCollections$Map1 java.util.ImmutableCollections$MapN java.util.Collections$EmptyMap java.util.Collections$SingletonMap',
    'java.util.HashMap': 'java.util.LinkedHashMap',
    'java.util.Hashtable': 'java.util.Properties',
    'java.util.SortedMap': 'java.util.NavigableMap',
    'java.util.NavigableMap': 'java.util.TreeMap',
    'java.util.concurrent.ConcurrentMap': 'java.util.concurrent.ConcurrentHashMap',
    'java.util.concurrent.ConcurrentMap java.util.NavigableMap': 'java.util.concurrent.ConcurrentSkipListMap',
  }).flatMap(([supertypes, names]) => names.split(' ').map((name) => [name, supertypes.split(' ')] as const)),
);

/** The class of an array or an object in a field of an interface. */
const IMPLEMENTATIONS: ReadonlyMap<string, string> = new Map([
  ['java.lang.Iterable', 'java.util.ArrayList'],
  ['java.util.Collection', 'java.util.ArrayList'],
  ['java.util.List', 'java.util.ArrayList'],
  ['java.util.Set', 'java.util.HashSet'],
  ['java.util.SortedSet', 'java.util.TreeSet'],
  ['java.util.NavigableSet', 'java.util.TreeSet'],
  ['java.util.Queue', 'java.util.LinkedList'],
  ['java.util.Deque', 'java.util.LinkedList'],
  ['java.util.Map', 'java.util.LinkedHashMap'],
  ['java.util.SortedMap', 'java.util.TreeMap'],
  ['java.util.NavigableMap', 'java.util.TreeMap'],
  ['java.util.concurrent.ConcurrentMap', 'java.util.concurrent.ConcurrentHashMap'],
  ['java.util.Calendar', 'java.util.GregorianCalendar'],
]);

/** Types that do not determine how their values are written. */
const OPEN: ReadonlySet<string> = new Set([
  'java.lang.Object',
  'java.lang.Number',
  'java.lang.CharSequence',
  'java.lang.Comparable',
  'java.io.Serializable',
]);

/** True if values of this type must carry their own. */
export function isOpen(type: JavaType): boolean {
  return OPEN.has(type.name);
}

/** Returns the class of a plain value in a field that is declared with this class or interface of Java's own. */
export function implementationOf(type: JavaType): string {
  return IMPLEMENTATIONS.get(type.name) ?? type.name;
}

/** Returns the enum of a constant's class. A constant with a body has a class of its own, such as `Channel$1`. */
export function enumOf(model: ClassModel, name: string): EnumClass | undefined {
  const declared = model.get(name) ?? model.get(/^(.+)\$\d+$/.exec(name)?.[1] ?? '');
  return declared?.kind === 'enum' ? declared : undefined;
}

/** True if a field of a type can hold an object of a class. If not, Java would fail after it has taken the message. */
export function isAssignable(model: ClassModel, type: JavaType, name: string): boolean {
  if (type.name === name || type.name === 'java.lang.Object') return true;
  if (enumOf(model, name)?.name === type.name) return true;
  const declared = model.get(type.name);
  if (declared !== undefined) return declared.kind === 'fields' && mayExtend(model, declared, name);
  const element = typeOfName(name)?.element;
  if (element !== undefined) {
    return (
      type.name === 'java.io.Serializable' || (type.element !== undefined && isArrayOf(model, type.element, element))
    );
  }
  if (type.name === 'java.io.Serializable') return true;
  if (type.name === 'java.lang.Comparable' && (model.has(name) || enumOf(model, name) !== undefined)) return true;
  return isBelow(name, type.name);
}

function isBelow(name: string, type: string): boolean {
  return name === type || (SUPERTYPES.get(name)?.some((supertype) => isBelow(supertype, type)) ?? false);
}

/** True if a type holds these elements of an array. An array of objects is also one of their supertypes. */
function isArrayOf(model: ClassModel, type: JavaType, element: JavaType): boolean {
  const isPrimitive = !element.name.includes('.') && element.element === undefined;
  return isPrimitive ? type.name === element.name : isAssignable(model, type, element.name);
}

/** True if a class may extend another, which its declaration does not name: it has all fields of a superclass; an interface has none. */
function mayExtend(model: ClassModel, superclass: FieldsClass, name: string): boolean {
  const declared = model.get(name) ?? enumOf(model, name);
  if (declared === undefined || isFinal(model, { name: superclass.name })) return false;
  if (declared.kind === 'enum') return superclass.fields.size === 0;
  return [...superclass.fields].every(([field, { name: type }]) => {
    const own = declared.fields.get(field)?.name;
    // A type variable is declared as Object in the superclass, and perhaps as another type in the subclass.
    return own === type || (own !== undefined && type === 'java.lang.Object');
  });
}
