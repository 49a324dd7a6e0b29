import { writeJsonData } from '../json-data.js';
import { readJackson } from './jackson.reader.js';
import { isJacksons, writeJackson } from './jackson.writer.js';
import type { TextCodec } from './payload-codec.js';
import { presentJson, unreadable } from './payload-errors.js';
import { readUtf8 } from './utf8.js';

/**
 * Redisson's `JsonJacksonCodec`: JSON that contains the names of Java classes.
 *
 * | Java | bytes | payload |
 * |---|---|---|
 * | String, Integer, Double, Boolean, null | as in JSON | text, number, boolean, null |
 * | Long | `["java.lang.Long",5]` | number; BigInt beyond ±(2⁵³ − 1) |
 * | BigInteger | `["java.math.BigInteger",5]` | number; BigInt beyond ±(2⁵³ − 1) |
 * | BigDecimal | `["java.math.BigDecimal",12.50]` | number; text from 16 digits on |
 * | Date | `["java.util.Date",1700000000123]` | `Date` |
 * | byte[] | `["[B","AAH/"]` | `Buffer` |
 * | a List or Set | `["java.util.ArrayList",[…]]` | array |
 * | a Map | `{"@class":"java.util.LinkedHashMap",…}` | object, without the `@class` |
 * | a class of an application | `{"@class":"com.shop.Order",…}` | object, with the `@class` |
 * | an enum, a UUID and the like | `["com.shop.Status","PAID"]` | text |
 *
 * An array of a class name and one more element is read as that element. Jackson writes arrays without a class only in fields
 * declared as arrays; such an array of two is misread if its first element is a text that looks like a full class name.
 *
 * In the other direction, an object becomes a LinkedHashMap unless it has an `@class`, an array an ArrayList, a `Date` a Date,
 * bytes a byte[], and a BigInt a Long or, if it does not fit, a BigInteger. A number is an Integer or a Double as in JSON; a
 * safe integer beyond 32 bits is a Long. In an object with the `@class` of an application, the declared fields decide instead:
 * numbers are written as they are, which suits `int`, `long` and `double`; a field of type `Long` needs a BigInt, and a field
 * of another class needs an object with its `@class`. Array fields, a `long` beyond ±(2⁵³ − 1), enums in collections and the
 * like cannot be written: use the codec `json` with a `TypedJsonJacksonCodec`, or a codec of your own.
 */
export const jacksonCodec: TextCodec = {
  encode: (payload) => presentJson(writeJsonData(payload, (data) => writeJackson(data), isJacksons)),

  decode(bytes) {
    const text = readUtf8(bytes, 'jackson');
    try {
      return readJackson(text);
    } catch {
      throw unreadable(bytes, 'jackson', 'its JSON is malformed, or nested too deeply');
    }
  },
};
