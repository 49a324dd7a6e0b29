package peer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.Codec;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.handler.State;
import org.redisson.codec.JsonJacksonCodec;
import org.redisson.codec.Kryo5Codec;
import org.redisson.codec.TypedJsonJacksonCodec;

/** Redisson's codecs, by the names that the tests use. */
final class Codecs {
  private Codecs() {}

  static Codec named(String name) {
    return switch (name) {
      case "string" -> StringCodec.INSTANCE;
      case "bytes" -> ByteArrayCodec.INSTANCE;
      case "kryo5" -> new Kryo5Codec();
      case "jackson" -> JsonJacksonCodec.INSTANCE;
      case "json" -> new TypedJsonJacksonCodec(Object.class);
      case "json of Order" -> new TypedJsonJacksonCodec(Samples.Order.class);
      default -> throw new IllegalArgumentException("There is no codec " + name);
    };
  }

  /** The codec for one value, whose class a typed codec is told. */
  static Codec forValue(String name, Object value) {
    return switch (name) {
      case "json" -> new TypedJsonJacksonCodec(value.getClass());
      case "json of Jackson 3" -> ofJackson3("TypedJsonJackson3Codec", new Class<?>[] {Class.class}, value.getClass());
      case "jackson of Jackson 3" -> ofJackson3("JsonJackson3Codec", new Class<?>[] {});
      default -> named(name);
    };
  }

  /** By reflection, because only Redisson 4 has them. */
  private static Codec ofJackson3(String name, Class<?>[] types, Object... arguments) {
    try {
      return (Codec) Class.forName("org.redisson.codec." + name).getConstructor(types).newInstance(arguments);
    } catch (ReflectiveOperationException problem) {
      throw new IllegalArgumentException(problem);
    }
  }

  static byte[] encode(Codec codec, Object value) throws IOException {
    ByteBuf bytes = codec.getValueEncoder().encode(value);
    try {
      return ByteBufUtil.getBytes(bytes);
    } finally {
      bytes.release();
    }
  }

  static Object decode(Codec codec, byte[] bytes) throws IOException {
    return codec.getValueDecoder().decode(Unpooled.wrappedBuffer(bytes), new State());
  }
}
