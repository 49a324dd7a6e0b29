package peer;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Tells of a value what Java made of it: its class, and its text, elements, entries or fields. */
record Description(String type, Object value) {

  static Description of(Object value) {
    return value == null ? null : new Description(value.getClass().getName(), content(value));
  }

  private static Object content(Object value) {
    if (value instanceof byte[] bytes) {
      return Base64.getEncoder().encodeToString(bytes);
    }
    if (value instanceof Date date) {
      return date.toInstant().toString();
    }
    if (value instanceof Map<?, ?> map) {
      return entries(map);
    }
    if (value instanceof Collection<?> elements) {
      return elements.stream().map(Description::of).toList();
    }
    if (value.getClass().isArray()) {
      return elements(value);
    }
    return value instanceof Samples.Bean ? fields(value) : String.valueOf(value);
  }

  private static Map<String, Description> entries(Map<?, ?> map) {
    Map<String, Description> entries = new LinkedHashMap<>();
    map.forEach((key, value) -> entries.put(String.valueOf(key), of(value)));
    return entries;
  }

  private static List<Description> elements(Object array) {
    List<Description> elements = new ArrayList<>();
    for (int i = 0; i < Array.getLength(array); i++) {
      elements.add(of(Array.get(array, i)));
    }
    return elements;
  }

  private static Map<String, Description> fields(Object bean) {
    Map<String, Description> fields = new LinkedHashMap<>();
    for (Field field : bean.getClass().getFields()) {
      try {
        fields.put(field.getName(), of(field.get(bean)));
      } catch (IllegalAccessException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
    return fields;
  }
}
