package peer;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Compares values of the same classes deeply, without an {@code equals} of the fixtures' classes. */
final class Likeness {
  private Likeness() {}

  /** Where two values differ, as a path, or null. */
  static String difference(Object a, Object b) {
    return difference("value", a, b);
  }

  private static String difference(String path, Object a, Object b) {
    if (a == null || b == null) {
      return a == b ? null : path + ": " + a + " is not " + b;
    }
    if (a.getClass() != b.getClass()) {
      return path + ": " + a.getClass().getName() + " is not " + b.getClass().getName();
    }
    if (a.getClass().isArray()) {
      return inOrder(path, elements(a).iterator(), elements(b).iterator());
    }
    if (a instanceof Set<?> set) {
      return anyOrder(path, set, (Set<?>) b);
    }
    if (a instanceof Map<?, ?> map) {
      return entries(path, map, (Map<?, ?>) b);
    }
    if (a instanceof Collection<?> collection) {
      return inOrder(path, collection.iterator(), ((Collection<?>) b).iterator());
    }
    if (a.getClass().getName().startsWith("peer.") && !(a instanceof Enum)) {
      return fields(path, a, b);
    }
    // Such as AtomicLong, which is equal only to itself.
    boolean equal = a.getClass().getName().contains(".atomic.") ? a.toString().equals(b.toString()) : a.equals(b);
    return equal ? null : path + ": " + a + " is not " + b;
  }

  private static List<Object> elements(Object array) {
    List<Object> elements = new ArrayList<>();
    for (int i = 0; i < Array.getLength(array); i++) {
      elements.add(Array.get(array, i));
    }
    return elements;
  }

  private static String inOrder(String path, Iterator<?> a, Iterator<?> b) {
    for (int i = 0; a.hasNext() || b.hasNext(); i++) {
      if (!a.hasNext() || !b.hasNext()) {
        return path + ": different sizes";
      }
      String difference = difference(path + "[" + i + "]", a.next(), b.next());
      if (difference != null) {
        return difference;
      }
    }
    return null;
  }

  private static String anyOrder(String path, Set<?> a, Set<?> b) {
    if (a.size() != b.size()) {
      return path + ": different sizes";
    }
    for (Object one : a) {
      if (b.stream().noneMatch(other -> difference(path, one, other) == null)) {
        return path + ": " + one + " is missing";
      }
    }
    return null;
  }

  private static String entries(String path, Map<?, ?> a, Map<?, ?> b) {
    String difference = anyOrder(path, a.keySet(), b.keySet());
    for (Map.Entry<?, ?> entry : a.entrySet()) {
      if (difference == null) {
        difference = difference(path + "." + entry.getKey(), entry.getValue(), b.get(entry.getKey()));
      }
    }
    return difference;
  }

  private static String fields(String path, Object a, Object b) {
    for (Class<?> type = a.getClass(); type != Object.class; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers())) {
          continue;
        }
        String difference = difference(path + "." + field.getName(), valueOf(field, a), valueOf(field, b));
        if (difference != null) {
          return difference;
        }
      }
    }
    return null;
  }

  private static Object valueOf(Field field, Object bean) {
    try {
      field.setAccessible(true);
      return field.get(bean);
    } catch (IllegalAccessException | InaccessibleObjectException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
