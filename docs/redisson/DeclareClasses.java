import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Collections;
import java.util.Date;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Prints the classes of payloads as nestjs-delay-queue wants them declared, with every class that their fields mention:
 *
 * <pre>java --class-path 'target/classes:libs/*' DeclareClasses.java com.shop.OrderTimeout com.shop.Refund</pre>
 *
 * Name the subclasses that a field of an interface or an abstract class may hold, too. What cannot be declared is printed as a
 * comment, and the exit code is 1. Needs Java 11 or newer, and loads classes without running their code.
 */
public final class DeclareClasses {
  /** Java's own classes that a declaration may mention, by package. */
  private static final Map<String, String> KNOWN = new LinkedHashMap<>();

  static {
    KNOWN.put(
        "java.lang",
        "Object String Boolean Character Byte Short Integer Long Float Double Number CharSequence StringBuilder StringBuffer"
            + " Comparable Iterable");
    KNOWN.put(
        "java.util",
        "Date UUID Locale Currency TimeZone Calendar GregorianCalendar Optional OptionalInt OptionalLong OptionalDouble"
            + " Collection List ArrayList LinkedList Vector Stack Queue Deque ArrayDeque PriorityQueue"
            + " Set HashSet LinkedHashSet SortedSet NavigableSet TreeSet EnumSet BitSet"
            + " Map HashMap LinkedHashMap SortedMap NavigableMap TreeMap EnumMap Hashtable IdentityHashMap WeakHashMap Properties");
    KNOWN.put(
        "java.util.concurrent",
        "ConcurrentMap ConcurrentHashMap ConcurrentSkipListMap ConcurrentSkipListSet ConcurrentLinkedQueue ConcurrentLinkedDeque"
            + " CopyOnWriteArrayList CopyOnWriteArraySet TimeUnit");
    KNOWN.put("java.util.concurrent.atomic", "AtomicBoolean AtomicInteger AtomicLong AtomicReference");
    KNOWN.put("java.math", "BigDecimal BigInteger");
    KNOWN.put(
        "java.time",
        "Instant Duration Period LocalDate LocalTime LocalDateTime OffsetTime OffsetDateTime ZonedDateTime Year YearMonth MonthDay"
            + " ZoneId ZoneOffset DayOfWeek Month");
    KNOWN.put("java.sql", "Timestamp Date Time");
    KNOWN.put("java.net", "URI URL");
    KNOWN.put("java.io", "Serializable");
  }

  /** Kryo and Jackson do not write the fields of these, nor of their subclasses. */
  private static final List<Class<?>> WITHOUT_FIELDS =
      Arrays.asList(Collection.class, Map.class, Date.class, Calendar.class, Number.class, CharSequence.class, Throwable.class);

  private final Deque<Class<?>> waiting = new ArrayDeque<>();
  private final Set<Class<?>> seen = new HashSet<>();
  private final List<String> problems = new ArrayList<>();

  private DeclareClasses() {}

  public static void main(String[] names) throws ClassNotFoundException {
    if (names.length == 0) {
      System.err.println("Usage: java --class-path <your classes> DeclareClasses.java <full names of classes>");
      System.exit(2);
    }
    DeclareClasses declarations = new DeclareClasses();
    for (String name : names) {
      declarations.mention(Class.forName(name, false, DeclareClasses.class.getClassLoader()));
    }
    System.out.print(declarations.print());
    declarations.problems.forEach(System.err::println);
    if (!declarations.problems.isEmpty()) {
      System.exit(1);
    }
  }

  private String print() {
    StringBuilder text = new StringBuilder("import type { JavaClasses } from 'nestjs-delay-queue';\n\n");
    text.append("export const classes: JavaClasses = {\n");
    while (!waiting.isEmpty()) {
      text.append(declaration(waiting.remove()));
    }
    return text.append("};\n").toString();
  }

  private String declaration(Class<?> type) {
    String problem = problemWith(type);
    if (problem != null) {
      return comment(type.getName() + ": " + problem);
    }
    if (type.isEnum()) {
      String constants =
          Arrays.stream(type.getFields())
              .filter(Field::isEnumConstant)
              .map(field -> "'" + field.getName() + "'")
              .collect(Collectors.joining(", "));
      return "  '" + prefix(type) + type.getName() + "': [" + constants + "],\n";
    }
    List<Field> fields = fields(type);
    if (fields.isEmpty()) {
      return "  '" + prefix(type) + type.getName() + "': {},\n";
    }
    StringBuilder text = new StringBuilder("  '" + prefix(type) + type.getName() + "': {\n");
    for (Field field : fields) {
      text.append(declaration(type, field));
    }
    return text.append("  },\n").toString();
  }

  private String declaration(Class<?> type, Field field) {
    String place = type.getName() + "." + field.getName();
    for (Annotation annotation : field.getAnnotations()) {
      String name = annotation.annotationType().getName();
      if (name.startsWith("com.esotericsoftware.kryo.")) {
        return "  " + comment(place + ": @" + annotation.annotationType().getSimpleName() + " changes what Kryo writes");
      }
    }
    Type resolved = resolve(field.getGenericType(), variables(type));
    Class<?> raw = raw(resolved);
    while (raw.isArray()) {
      raw = raw.getComponentType();
    }
    if (isJavas(raw) && !isKnown(raw) && Modifier.isFinal(raw.getModifiers())) {
      return "  " + comment(place + ": " + raw.getName() + " is not supported");
    }
    return "    " + field.getName() + ": '" + text(resolved) + "',\n";
  }

  private String comment(String problem) {
    problems.add(problem);
    return "  // " + problem + "\n";
  }

  /** Why Kryo or Jackson writes anything but the fields of a class, or null. */
  private static String problemWith(Class<?> type) {
    for (Class<?> special : WITHOUT_FIELDS) {
      if (special.isAssignableFrom(type)) {
        return "a class that is a " + special.getSimpleName() + " cannot be declared";
      }
    }
    for (Class<?> each = type; each != null; each = each.getSuperclass()) {
      for (Class<?> implemented : each.getInterfaces()) {
        if (implemented.getName().equals("com.esotericsoftware.kryo.KryoSerializable")) {
          return "a class that writes itself cannot be declared";
        }
      }
      for (Annotation annotation : each.getAnnotations()) {
        if (annotation.annotationType().getName().startsWith("com.esotericsoftware.kryo.")) {
          return "a class with a serializer of its own cannot be declared";
        }
      }
    }
    Set<String> names = new HashSet<>();
    for (Field field : fields(type)) {
      if (!names.add(field.getName())) {
        return "it has two fields called " + field.getName() + ", one of them in a superclass";
      }
    }
    return null;
  }

  private static String prefix(Class<?> type) {
    Class<?> superclass = type.getSuperclass();
    if (superclass != null && superclass.getName().equals("java.lang.Record")) {
      return "record ";
    }
    return Modifier.isFinal(type.getModifiers()) ? "final " : "";
  }

  /** What is written of an object: the fields of superclasses come first. */
  private static List<Field> fields(Class<?> type) {
    List<Field> fields = new ArrayList<>();
    for (Class<?> each = type; each != null && !each.isEnum(); each = each.getSuperclass()) {
      List<Field> own =
          Arrays.stream(each.getDeclaredFields())
              .filter(field -> (field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0 && !field.isSynthetic())
              .collect(Collectors.toList());
      fields.addAll(0, own);
    }
    return fields;
  }

  /** What the subclass says about the type parameters of its superclasses. */
  private static Map<TypeVariable<?>, Type> variables(Class<?> type) {
    Map<TypeVariable<?>, Type> variables = new HashMap<>();
    for (Class<?> each = type; each != null; each = each.getSuperclass()) {
      if (each.getGenericSuperclass() instanceof ParameterizedType) {
        Type[] arguments = ((ParameterizedType) each.getGenericSuperclass()).getActualTypeArguments();
        TypeVariable<?>[] parameters = each.getSuperclass().getTypeParameters();
        for (int i = 0; i < parameters.length; i++) {
          // Kryo looks no further than the class of an argument.
          Type argument = arguments[i] instanceof TypeVariable ? variables.get(arguments[i]) : raw(arguments[i]);
          if (argument != null) {
            variables.put(parameters[i], argument);
          }
        }
      }
    }
    return variables;
  }

  /** A type without type variables and wildcards. */
  private static Type resolve(Type type, Map<TypeVariable<?>, Type> variables) {
    if (type instanceof TypeVariable) {
      Type known = variables.get(type);
      return known != null ? known : raw(type);
    }
    if (type instanceof WildcardType) {
      WildcardType wildcard = (WildcardType) type;
      Type bound = wildcard.getUpperBounds()[0];
      if (bound == Object.class && wildcard.getLowerBounds().length > 0) {
        bound = wildcard.getLowerBounds()[0];
      }
      return raw(resolve(bound, variables));
    }
    if (type instanceof GenericArrayType) {
      Type element = resolve(((GenericArrayType) type).getGenericComponentType(), variables);
      return element instanceof Class ? java.lang.reflect.Array.newInstance((Class<?>) element, 0).getClass() : new ArrayOf(element);
    }
    if (type instanceof ParameterizedType) {
      ParameterizedType parameterized = (ParameterizedType) type;
      List<Type> arguments = new ArrayList<>();
      for (Type argument : parameterized.getActualTypeArguments()) {
        arguments.add(resolve(argument, variables));
      }
      return new Parameterized((Class<?>) parameterized.getRawType(), arguments);
    }
    return type;
  }

  private static final class ArrayOf implements Type {
    final Type element;

    ArrayOf(Type element) {
      this.element = element;
    }
  }

  private static final class Parameterized implements Type {
    final Class<?> raw;
    final List<Type> arguments;

    Parameterized(Class<?> raw, List<Type> arguments) {
      this.raw = raw;
      this.arguments = arguments;
    }
  }

  private static Class<?> raw(Type type) {
    if (type instanceof Class) {
      return (Class<?>) type;
    }
    if (type instanceof ParameterizedType) {
      return (Class<?>) ((ParameterizedType) type).getRawType();
    }
    if (type instanceof Parameterized) {
      return ((Parameterized) type).raw;
    }
    if (type instanceof TypeVariable) {
      return raw(((TypeVariable<?>) type).getBounds()[0]);
    }
    if (type instanceof WildcardType) {
      return raw(((WildcardType) type).getUpperBounds()[0]);
    }
    Type element =
        type instanceof ArrayOf ? ((ArrayOf) type).element : ((GenericArrayType) type).getGenericComponentType();
    return java.lang.reflect.Array.newInstance(raw(element), 0).getClass();
  }

  /** As the declaration has it; its classes are declared, too. */
  private String text(Type type) {
    if (type instanceof ArrayOf) {
      return text(((ArrayOf) type).element) + "[]";
    }
    if (type instanceof Parameterized) {
      Parameterized parameterized = (Parameterized) type;
      String name = text(parameterized.raw, false);
      if (name.equals("Object")) {
        return name;
      }
      return name + parameterized.arguments.stream().map(this::text).collect(Collectors.joining(", ", "<", ">"));
    }
    return text((Class<?>) type, true);
  }

  private String text(Class<?> type, boolean isRaw) {
    if (type.isArray()) {
      return text(type.getComponentType(), true) + "[]";
    }
    if (type.isPrimitive()) {
      return type.getName();
    }
    if (isJavas(type)) {
      // Whatever else it may hold, its bytes are those of an Object's field.
      String name = !isKnown(type) ? "Object" : needsPackage(type) ? type.getName() : type.getSimpleName();
      int parameters = isRaw && isKnown(type) ? type.getTypeParameters().length : 0;
      return parameters == 0 ? name : name + "<" + String.join(", ", Collections.nCopies(parameters, "Object")) + ">";
    }
    mention(type);
    return type.getName();
  }

  private void mention(Class<?> type) {
    if (!isJavas(type) && seen.add(type)) {
      waiting.add(type);
    }
  }

  private static boolean isJavas(Class<?> type) {
    return type.isPrimitive() || type.getName().matches("(java|javax|jdk|sun)\\..*");
  }

  private static boolean isKnown(Class<?> type) {
    String known = type.getPackage() == null ? null : KNOWN.get(type.getPackage().getName());
    return type.isPrimitive() || known != null && Arrays.asList(known.split(" ")).contains(type.getSimpleName());
  }

  private static boolean needsPackage(Class<?> type) {
    return type.getName().equals("java.sql.Date") || type.getName().equals("java.sql.Time");
  }
}
