import { isUtf8 } from 'node:buffer';
import { kryo5CodecWith } from './kryo/kryo5-codec.js';

/** Kryo's number for a class without a number of its own, then that of the first such class. Its name follows. */
const KRYO5_CLASS = Buffer.of(1, 0);
/** A name, whose last byte has its highest bit set. */
const MARKED_NAME = /^[\w$.[;-]*[\x80-\xff]/;
/** Maximum length of a class name. */
const MAX_NAME = 300;
/** An object, or an array of a class name and one more element. */
const TYPED_JSON = /^\s*(?:\{\s*"@class"\s*:|\[\s*"(?:\[+[A-Z]|(?:\w+\.)+)[\w$.;]*"\s*,)/;

/** Jackson writes the class of an object before its fields. */
const OBJECT = /^\s*\{/;
const OBJECT_WITH_CLASS = /^\s*\{\s*"@class"\s*:\s*"/;
/** A value of Java's own that is not text, with its class: `["java.lang.Long",5]`. A list of names of classes does not match. */
const WRAPPED_VALUE = /\[\s*"(?:java\.[\w.$<>,]+"\s*,\s*[^\s"]|\[+(?:[BCDFIJSZ]|L[\w.$]+;)"\s*,)/;
/** Maximum bytes of a long text that are searched. */
const SEARCHED = 16_384;

const ION_GUESS = 'Ion (IonJacksonCodec), which no codec here reads: give the queue another codec in Java';

/** The first bytes of streams that begin with a magic number. */
const MAGIC = [
  [
    Buffer.of(0xac, 0xed),
    'Java serialization (SerializationCodec), which no codec here reads: give the queue another codec in Java',
  ],
  [Buffer.of(0xe0, 1, 0, 0xea), ION_GUESS],
  [Buffer.from(':)\n'), 'Smile (SmileJacksonCodec), which no codec here reads: give the queue another codec in Java'],
] as const;

const UNKNOWN = 'none of the codecs that this package knows';
/** A struct, whose names are symbols and not texts. */
const ION = /^\s*(?:'[^']*'::)?\{\s*(?:[A-Za-z_$][\w$]*|'[^']*')\s*:/;
/** Control characters that texts do not have. */
const BINARY = /(?![\t\n\v\f\r])\p{Cc}/u;

const MARSHALLING =
  'JBoss Marshalling (MarshallingCodec, the default of Redisson before 3.19), which no codec here reads: give the queue another codec in Java';

/** The version of JBoss' protocol. For Kryo5 the number of Float, whose four bytes follow. */
const FOUR = 4;
const KRYO5_FLOAT_BYTES = 5;
/** Kryo's numbers for the primitive types and String. */
const [FIRST_KRYO5, LAST_KRYO5] = [2, 10];

const TYPED_JSON_GUESS = "JSON with the names of classes (JsonJacksonCodec): codec 'jackson'";

/**
 * Distinguishes plain JSON from that of `JsonJacksonCodec`, which has the class of every object.
 * @param bytes - JSON
 * @returns undefined if both codecs would write it, such as a number, a text, and most arrays
 */
export function isPlainJson(bytes: Buffer): boolean | undefined {
  const text = bytes.toString('latin1', 0, SEARCHED);
  if (OBJECT_WITH_CLASS.test(text) || WRAPPED_VALUE.test(text)) return false;
  return OBJECT.test(text) || undefined;
}

/** Guesses which codec of Redisson wrote some bytes, and advises what to do. It quotes nothing but the name of a class. */
export function guessCodec(bytes: Buffer): string {
  for (const [start, name] of MAGIC) if (bytes.subarray(0, start.length).equals(start)) return name;
  const kryo5Class = readKryo5Class(bytes);
  if (kryo5Class !== undefined) return `Kryo5 (of class ${kryo5Class}): codec 'kryo5', with that class declared`;
  const first = bytes[0] ?? 0;
  if (first === FOUR && bytes.length !== KRYO5_FLOAT_BYTES) return MARSHALLING;
  // Streams of Fory, Protobuf and Avro begin with such bytes, too, but continue differently from Kryo's.
  if (first >= FIRST_KRYO5 && first <= LAST_KRYO5 && isKryo5(bytes)) return "Kryo5: codec 'kryo5'";
  return isUtf8(bytes) ? guessText(bytes.toString()) : UNKNOWN;
}

function isKryo5(bytes: Buffer): boolean {
  try {
    kryo5CodecWith({}).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function guessText(text: string): string {
  if (!isJson(text)) {
    if (ION.test(text)) return ION_GUESS;
    return BINARY.test(text) ? UNKNOWN : "plain text: codec 'string'";
  }
  return TYPED_JSON.test(text) || WRAPPED_VALUE.test(text)
    ? TYPED_JSON_GUESS
    : "plain JSON (TypedJsonJacksonCodec): codec 'json'";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function readKryo5Class(bytes: Buffer): string | undefined {
  const [start, name] = [bytes.subarray(0, KRYO5_CLASS.length), bytes.subarray(KRYO5_CLASS.length)];
  const marked = start.equals(KRYO5_CLASS) ? MARKED_NAME.exec(name.toString('latin1', 0, MAX_NAME))?.[0] : undefined;
  return marked && marked.slice(0, -1) + String.fromCharCode(marked.charCodeAt(marked.length - 1) & 0x7f);
}
