import { arrayOf, type JavaType, OBJECT } from './java-type.js';

const TOKEN = /\s*(?:([\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)*)|(\[\s*\]|[<>,?]))/uy;

/** The reason why a text is not a type. */
export class TypeSyntaxError extends Error {}

/**
 * Parses a type as written in Java.
 * @param resolve - returns the type of a name with its arguments, or throws
 * @throws TypeSyntaxError if the text is malformed
 */
export function parseType(text: string, resolve: (name: string, args: JavaType[] | undefined) => JavaType): JavaType {
  const tokens = tokensOf(text);
  let at = 0;

  const takes = (token: string) => tokens[at] === token && ++at > 0;

  function type(): JavaType {
    const token = tokens[at++];
    if (token === '?') return wildcard();
    if (token === undefined || /^[[<>,]/.test(token)) throw new TypeSyntaxError('it is not a Java type');
    let parsed = resolve(token, takes('<') ? typeArguments() : undefined);
    while (takes('[]')) parsed = arrayOf(parsed);
    return parsed;
  }

  function typeArguments(): JavaType[] {
    const args = [type()];
    while (takes(',')) args.push(type());
    if (!takes('>')) throw new TypeSyntaxError("a '>' is missing");
    return args;
  }

  /** Kryo replaces it with its bound, upper or lower, without the bound's own type arguments. */
  function wildcard(): JavaType {
    return takes('extends') || takes('super') ? { name: type().name } : OBJECT;
  }

  const parsed = type();
  if (at < tokens.length) throw new TypeSyntaxError('it is not a Java type');
  return parsed;
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const trimmed = text.trimEnd();
  while (TOKEN.lastIndex < trimmed.length) {
    const [, word, mark] = TOKEN.exec(trimmed) ?? [];
    const token = word ?? mark?.replace(/\s/g, '');
    if (token === undefined) throw new TypeSyntaxError('it is not a Java type');
    tokens.push(token);
  }
  return tokens;
}
