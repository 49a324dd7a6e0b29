import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationTargetException;
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
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Prints the classes of payloads as nestjs-delay-queue wants them declared, with every class that their fields mention:
 *
 * <pre>java --class-path 'target/classes:target/dependency/*' DeclareClasses.java com.shop.OrderTimeout com.shop.Refund</pre>
 *
 * What it prints is for Kryo5Codec; with --jackson before the names it is for JsonJacksonCodec, and with --jackson3 for
 * JsonJackson3Codec, whose own mapper then tells what it writes. Name the subclasses that a field may hold, too. A class that
 * cannot be declared is left out, and so are those that mention it; all reasons are printed, and the exit code is 1. Needs Java
 * 11 or newer, and loads classes without running their code, but for toString() of the constants of enums with --jackson3.
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

  /** Java's own classes that the codec kryo5 does not know, although Kryo writes them in a field of their type. */
  private static final List<String> UNKNOWN_TO_KRYO5 = Arrays.asList("Optional", "OptionalInt", "OptionalLong", "OptionalDouble");

  private final Codec codec;
  private final Deque<Class<?>> waiting = new ArrayDeque<>();
  private final Set<Class<?>> seen = new HashSet<>();
  private final Map<Class<?>, String> declarations = new LinkedHashMap<>();
  /** Why classes, by name, are left out. */
  private final Map<String, List<String>> problems = new LinkedHashMap<>();
  /** The classes that the fields of a class mention, and one of these fields. */
  private final Map<Class<?>, Map<Class<?>, String>> mentions = new HashMap<>();
  private Map<Class<?>, String> mentioned = new HashMap<>();
  private String field = "";

  private DeclareClasses(Codec codec) {
    this.codec = codec;
  }

  public static void main(String[] arguments) {
    boolean hasOption = arguments.length > 0 && arguments[0].startsWith("--");
    List<String> names = Arrays.asList(arguments).subList(hasOption ? 1 : 0, arguments.length);
    Codec codec = codec(hasOption ? arguments[0] : "--kryo5");
    if (names.isEmpty() || codec == null) {
      System.err.println(
          "Usage: java --class-path <your classes and libraries> DeclareClasses.java [--jackson | --jackson3] <full names of classes>");
      System.exit(2);
    }
    DeclareClasses declarations = new DeclareClasses(codec);
    declarations.declare(names);
    System.out.print(declarations.print());
    declarations.lines().forEach(System.err::println);
    if (!declarations.problems.isEmpty()) {
      System.exit(1);
    }
  }

  private static Codec codec(String option) {
    try {
      switch (option) {
        case "--kryo5":
          return new KryoCodec();
        case "--jackson":
          return new JacksonCodec("org.redisson.codec.JsonJacksonCodec", "getSerializerProviderInstance", false);
        case "--jackson3":
          return new JacksonCodec("org.redisson.codec.JsonJackson3Codec", "_serializationContext", true);
        default:
          return null;
      }
    } catch (ReflectiveOperationException | LinkageError e) {
      // Without its annotations, which Java leaves out if their library is missing, a class may look as if it could be declared.
      System.err.println("The libraries of your application must be on the class path, Redisson and its own included: " + e);
      System.exit(2);
      return null;
    }
  }

  private void declare(List<String> names) {
    for (String name : names) {
      try {
        Class<?> type = Class.forName(name, false, DeclareClasses.class.getClassLoader());
        if (isJavas(type)) {
          refuse(name, "a class of Java's own is not declared");
        }
        mention(type);
      } catch (ClassNotFoundException | LinkageError e) {
        refuse(name, "it is not on the class path");
      }
    }
    while (!waiting.isEmpty()) {
      Class<?> type = waiting.remove();
      mentioned = new LinkedHashMap<>();
      mentions.put(type, mentioned);
      try {
        declarations.put(type, declaration(type));
      } catch (LinkageError | TypeNotPresentException e) {
        refuse(type.getName(), "something that it mentions is not on the class path: " + e.getMessage());
      } catch (Unwritable e) {
        refuse(type.getName(), "Jackson cannot write it: " + e.getMessage());
      }
    }
    boolean isComplete = false;
    while (!isComplete) {
      isComplete = true;
      for (Class<?> type : declarations.keySet()) {
        for (Map.Entry<Class<?>, String> mention : mentions.get(type).entrySet()) {
          boolean isKnown = problems.containsKey(type.getName());
          if (!isKnown && problems.containsKey(mention.getKey().getName())) {
            refuse(type.getName(), mention.getValue() + ": " + mention.getKey().getName() + " cannot be declared");
            isComplete = false;
          }
        }
      }
    }
  }

  private void refuse(String type, String reason) {
    problems.computeIfAbsent(type, any -> new ArrayList<>()).add(reason);
  }

  private List<String> lines() {
    List<String> lines = new ArrayList<>();
    problems.forEach((type, reasons) -> reasons.forEach(reason -> lines.add(type + " is left out: " + reason)));
    return lines;
  }

  private String print() {
    StringBuilder text = new StringBuilder("import type { JavaClasses } from 'nestjs-delay-queue';\n\n");
    text.append("export const classes: JavaClasses = {\n");
    declarations.forEach((type, declaration) -> text.append(problems.containsKey(type.getName()) ? "" : declaration));
    lines().forEach(line -> text.append("  // ").append(line.replaceAll("\\s+", " ")).append("\n"));
    return text.append("};\n").toString();
  }

  private String declaration(Class<?> type) {
    String name = "  '" + prefix(type) + type.getName() + "': ";
    List<String> reasons = new ArrayList<>();
    if (type.isInterface()) {
      reasons.add("an interface has no objects of its own; give the fields that mention it a class");
    } else {
      codec.check(type, reasons);
    }
    reasons.forEach(reason -> refuse(type.getName(), reason));
    if (!reasons.isEmpty()) {
      return "";
    }
    if (type.isEnum()) {
      return name + constants(type).map(field -> quoted(codec.constant(field))).collect(Collectors.joining(", ", "[", "],\n"));
    }
    StringBuilder text = new StringBuilder();
    codec.members(type).forEach((member, memberType) -> text.append(declaration(type, member, memberType)));
    return name + (text.length() == 0 ? "{},\n" : "{\n" + text + "  },\n");
  }

  private String declaration(Class<?> type, String member, Type memberType) {
    field = member;
    String problem = problemWith(memberType);
    if (!member.matches("[\\p{L}_$][\\p{L}\\p{N}_$]*")) {
      problem = "a property must be called like a field of Java";
    }
    if (problem != null) {
      refuse(type.getName(), member + ": " + problem);
    }
    return "    " + member + ": '" + text(memberType) + "',\n";
  }

  /** Why a field cannot have a type, or null. */
  private String problemWith(Type type) {
    if (type instanceof ArrayOf) {
      return problemWith(((ArrayOf) type).element);
    }
    Class<?> raw = innermost(raw(type));
    if (isJavas(raw) && !isKnown(raw) && Modifier.isFinal(raw.getModifiers()) || !codec.knows(raw)) {
      return raw.getName() + " is not supported";
    }
    List<Type> arguments = type instanceof Parameterized ? ((Parameterized) type).arguments : Collections.emptyList();
    for (Type argument : arguments) {
      if (!isJavas(raw) && codec.isHidden(raw(argument))) {
        return raw.getName() + " with a final class as its type argument is not supported";
      }
      String problem = problemWith(argument);
      if (problem != null) {
        return problem;
      }
    }
    return null;
  }

  private static Class<?> innermost(Class<?> type) {
    return type.isArray() ? innermost(type.getComponentType()) : type;
  }

  private static Stream<Field> constants(Class<?> type) {
    return Arrays.stream(type.getFields()).filter(Field::isEnumConstant);
  }

  private static final class Unwritable extends RuntimeException {
    Unwritable(Throwable cause) {
      super(cause.getMessage(), cause);
    }
  }

  /** What a codec of Redisson writes of an object. */
  private interface Codec {
    /** Adds the reasons why a class cannot be declared. */
    void check(Class<?> type, List<String> reasons);

    /** The types of what is written, by name. */
    Map<String, Type> members(Class<?> type);

    /** What is written of a constant of an enum. */
    String constant(Field constant);

    /** Whether a field may have a type of Java's own. */
    boolean knows(Class<?> type);

    /** Whether bytes do not show this class where it is the argument of a type parameter. */
    boolean isHidden(Class<?> argument);
  }

  private static final class KryoCodec implements Codec {
    KryoCodec() throws ClassNotFoundException {
      Class.forName("com.esotericsoftware.kryo.Kryo", false, DeclareClasses.class.getClassLoader());
    }

    @Override
    public void check(Class<?> type, List<String> reasons) {
      for (Class<?> special : WITHOUT_FIELDS) {
        if (special.isAssignableFrom(type)) {
          reasons.add("a class that is a " + special.getSimpleName() + " cannot be declared");
        }
      }
      for (Class<?> each = type; each != null; each = each.getSuperclass()) {
        for (Class<?> implemented : each.getInterfaces()) {
          if (implemented.getName().equals("com.esotericsoftware.kryo.KryoSerializable")) {
            reasons.add("a class that writes itself cannot be declared");
          }
        }
        if (Arrays.stream(each.getAnnotations()).anyMatch(KryoCodec::isKryos)) {
          reasons.add("a class with a serializer of its own cannot be declared");
        }
      }
      Set<String> names = new HashSet<>();
      for (Field field : fields(type)) {
        if (!names.add(field.getName())) {
          reasons.add("it has two fields called " + field.getName() + ", one of them in a superclass");
        }
        for (Annotation annotation : field.getAnnotations()) {
          if (isKryos(annotation)) {
            reasons.add(field.getName() + ": @" + annotation.annotationType().getSimpleName() + " changes what Kryo writes");
          }
        }
      }
    }

    private static boolean isKryos(Annotation annotation) {
      return annotation.annotationType().getName().startsWith("com.esotericsoftware.kryo.");
    }

    @Override
    public Map<String, Type> members(Class<?> type) {
      Map<String, Type> members = new LinkedHashMap<>();
      fields(type).forEach(field -> members.put(field.getName(), resolve(field.getGenericType(), variables(type))));
      return members;
    }

    @Override
    public String constant(Field constant) {
      return constant.getName();
    }

    @Override
    public boolean knows(Class<?> type) {
      return !isJavas(type) || !UNKNOWN_TO_KRYO5.contains(type.getSimpleName());
    }

    @Override
    public boolean isHidden(Class<?> argument) {
      return Modifier.isFinal(innermost(argument).getModifiers());
    }
  }

  /** Asks the mapper of Redisson's codec, which Jackson 2 and 3 allow in nearly the same way. */
  private static final class JacksonCodec implements Codec {
    /** Annotations that change no more than the names and the choice of properties. */
    private static final List<String> HARMLESS =
        Arrays.asList(
            "JsonProperty", "JsonIgnore", "JsonIgnoreProperties", "JsonIgnoreType", "JsonNaming", "JsonAutoDetect", "JsonInclude",
            "JsonPropertyOrder", "JsonGetter", "JsonSetter", "JsonAlias", "JsonCreator", "JsonTypeName", "JsonRootName",
            "JsonPropertyDescription", "JsonClassDescription");

    private static final List<Class<?>> SHOWN = Arrays.asList(String.class, Integer.class, Boolean.class, Double.class);

    private final Object serializers;
    private final boolean isThree;

    JacksonCodec(String codec, String getSerializers, boolean isThree) throws ReflectiveOperationException {
      this.isThree = isThree;
      Object mapper = call(Class.forName(codec).getConstructor().newInstance(), "getObjectMapper");
      serializers = call(mapper, getSerializers);
    }

    @Override
    public void check(Class<?> type, List<String> reasons) {
      for (Class<?> each : kin(type)) {
        refuseAnnotations(each, "", reasons);
        Arrays.stream(each.getDeclaredFields()).forEach(field -> refuseAnnotations(field, field.getName() + ": ", reasons));
        Arrays.stream(each.getDeclaredMethods()).forEach(method -> refuseAnnotations(method, method.getName() + "(): ", reasons));
      }
      if (type.isEnum()) {
        constants(type)
            .filter(field -> Arrays.stream(field.getAnnotations()).anyMatch(JacksonCodec::isJacksons))
            .forEach(field -> reasons.add(field.getName() + ": a constant with a name of its own in JSON cannot be declared"));
      } else if (reasons.isEmpty()) {
        String serializer = serializer(type).getClass().getSimpleName();
        if (!serializer.matches("(Unrolled)?BeanSerializer|UnknownSerializer")) {
          reasons.add("Jackson writes something else than its properties (" + serializer + ")");
        }
      }
    }

    /** Jackson merges the annotations of superclasses and interfaces. */
    private static Set<Class<?>> kin(Class<?> type) {
      Set<Class<?>> kin = new LinkedHashSet<>();
      if (type == null || isJavas(type)) {
        return kin;
      }
      kin.add(type);
      kin.addAll(kin(type.getSuperclass()));
      Arrays.stream(type.getInterfaces()).forEach(implemented -> kin.addAll(kin(implemented)));
      return kin;
    }

    private static void refuseAnnotations(AnnotatedElement element, String place, List<String> reasons) {
      for (Annotation annotation : element.getAnnotations()) {
        Class<?> type = annotation.annotationType();
        boolean isBundle = Arrays.stream(type.getAnnotations()).anyMatch(JacksonCodec::isJacksons) && !isJacksons(annotation);
        if (isBundle || isJacksons(annotation) && !HARMLESS.contains(type.getSimpleName())) {
          reasons.add(place + "@" + type.getSimpleName() + " changes what Jackson writes");
        }
      }
    }

    private static boolean isJacksons(Annotation annotation) {
      return annotation.annotationType().getName().matches("(com\\.fasterxml|tools)\\.jackson\\..*");
    }

    @Override
    public Map<String, Type> members(Class<?> type) {
      Map<String, Type> members = new LinkedHashMap<>();
      Iterator<?> properties = (Iterator<?>) call(serializer(type), "properties");
      while (properties.hasNext()) {
        Object property = properties.next();
        members.put((String) call(property, "getName"), typeOf(call(property, "getType")));
      }
      return members;
    }

    private Object serializer(Class<?> type) {
      return call(serializers, "findValueSerializer", type);
    }

    private static Type typeOf(Object javaType) {
      Class<?> raw = (Class<?>) call(javaType, "getRawClass");
      if (raw.isArray()) {
        Type element = typeOf(call(javaType, "getContentType"));
        return element instanceof Class ? raw : new ArrayOf(element);
      }
      List<Type> arguments = new ArrayList<>();
      for (int i = 0; i < raw.getTypeParameters().length; i++) {
        arguments.add(typeOf(call(javaType, "containedTypeOrUnknown", i)));
      }
      return arguments.isEmpty() ? raw : new Parameterized(raw, arguments);
    }

    private static Object call(Object target, String method, Object... arguments) {
      Class<?>[] types =
          Arrays.stream(arguments).map(each -> each instanceof Integer ? int.class : each.getClass()).toArray(Class<?>[]::new);
      try {
        return target.getClass().getMethod(method, types).invoke(target, arguments);
      } catch (InvocationTargetException e) {
        throw new Unwritable(e.getCause());
      } catch (ReflectiveOperationException e) {
        throw new Unwritable(e);
      }
    }

    /** Jackson 3 writes toString(). This is the only code of a class that runs. */
    @Override
    public String constant(Field constant) {
      if (!isThree) {
        return constant.getName();
      }
      try {
        constant.setAccessible(true);
        return String.valueOf(constant.get(null));
      } catch (ReflectiveOperationException | RuntimeException e) {
        throw new Unwritable(e);
      }
    }

    @Override
    public boolean knows(Class<?> type) {
      return true;
    }

    @Override
    public boolean isHidden(Class<?> argument) {
      return Modifier.isFinal(innermost(argument).getModifiers()) && !SHOWN.contains(argument);
    }
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r") + "'";
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
    if (!isJavas(type)) {
      mentioned.putIfAbsent(type, field);
    }
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
