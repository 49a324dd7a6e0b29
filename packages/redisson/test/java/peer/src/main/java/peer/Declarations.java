package peer;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.JavaSerializer;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.io.Serializable;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Classes for the program DeclareClasses: those that cannot be declared, and those whose JSON is not their fields. */
public final class Declarations {
  public interface Shape {}

  public static class Drawing {
    public String title;
    public List<Shape> shapes;
  }

  public static class Gift {
    public String title;
    public Optional<String> note;
  }

  public static class Box<T> {
    public T content;
  }

  public static class Parcel {
    public Box<Object> anything;
    public Box<Long> weight;
  }

  public static class Filter {
    public Pattern pattern;
    public Optional<Pattern> other;
  }

  @DefaultSerializer(JavaSerializer.class)
  public static class Sealed implements Serializable {
    public String text;
  }

  public static class Envelope {
    public String title;
    public Sealed sealed;
  }

  public static class Letters {
    public List<Envelope> all;
  }

  public static class Plain {
    public String title;
  }

  public static class Bill {
    @JsonProperty("bill_no")
    public String number;

    @JsonIgnore public Pattern secret;
    public boolean paid;
    public Long amount;

    public boolean isPaid() {
      return paid;
    }

    public boolean isLate() {
      return !paid;
    }

    public String getTitle() {
      return number;
    }
  }

  @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
  public static class Snake {
    public String orderId;
  }

  @JsonNaming(PropertyNamingStrategies.KebabCaseStrategy.class)
  public static class Kebab {
    public String orderId;
  }

  public static class Code {
    @JsonValue public String code;
  }

  public static class Coded {
    public Code code;
  }

  public static class Dated {
    @JsonFormat(pattern = "yyyy")
    public Date year;
  }

  public enum Level {
    @JsonProperty("low")
    LOW,
    HIGH
  }

  public enum Urgency {
    URGENT("very 'urgent'"),
    NORMAL("normal");

    private final String text;

    Urgency(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  public static class Task {
    public Urgency urgency;
  }

  private Declarations() {}
}
