import { isAlphabetical } from './json-keys.js';
import { JsonNumber } from './json-number.js';
import { type JsonNode, type JsonObject, numberOf, NumberText, type ParsedJson } from './json-text.js';

/** The parts of a received object or array that it does not show: the text of its numbers, and the order of its keys. */
interface Received {
  /** In the order of the text, unless that is the alphabetical order of a class' fields. */
  readonly keys: readonly string[] | undefined;
  /** By key or index. */
  readonly numbers: ReadonlyMap<string, ReceivedNumber>;
}

interface ReceivedNumber {
  readonly value: unknown;
  readonly text: string;
}

/** Keyed by the object or array itself, so that entries last as long as it and are invisible to handlers. */
const received = new WeakMap<object, Received>();
const NO_NUMBERS: ReadonlyMap<string, ReceivedNumber> = new Map();

/** Makes a copy be written like its original. */
export function rememberCopy(from: object, copy: object): void {
  const memory = received.get(from);
  if (memory) received.set(copy, memory);
}

/** Returns what was received as this object or array. */
export function recall(container: object): Received | undefined {
  return received.get(container);
}

/** Gives numbers their values, in place, and remembers their texts. */
export function readJson(json: ParsedJson, numbers: 'nearest' | 'exact'): unknown {
  return valueOf(json.root);

  function valueOf(node: JsonNode): unknown {
    if (typeof node !== 'object' || node === null) return node;
    if (node instanceof NumberText) return numberFor(node.literal);
    if (Array.isArray(node)) readParts(node, undefined);
    else readParts(node, json.keysOf(node));
    return node;
  }

  function numberFor(literal: string): unknown {
    const value = numberOf(literal);
    return numbers === 'exact' && String(value) !== literal ? new JsonNumber(literal) : value;
  }

  function readParts(container: JsonObject | JsonNode[], keys: readonly string[] | undefined): void {
    const parts = container as Record<string, unknown>;
    let texts: Map<string, ReceivedNumber> | undefined;
    for (const key of keys ?? Object.keys(container)) {
      const node = parts[key] as JsonNode;
      if (typeof node !== 'object' || node === null) continue;
      const value = valueOf(node);
      if (!(node instanceof NumberText)) continue;
      parts[key] = value;
      if (String(value) !== node.literal || Object.is(value, -0)) {
        (texts ??= new Map()).set(key, { value, text: node.literal });
      }
    }
    const order = keys === undefined || isAlphabetical(keys) ? undefined : keys;
    if (order ?? texts) received.set(container, { keys: order, numbers: texts ?? NO_NUMBERS });
  }
}
