/** Writes a number as Java's `Double.toString` does: `5.0`, `12.5`, `1.0E21`. */
export function javaDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) {
    const [digits, exponent] = value.toExponential().split('e') as [string, string];
    return `${withPoint(digits)}E${Number(exponent)}`;
  }
  return withPoint(String(value));
}

/**
 * Writes a number as Java's `Float.toString` does, with just enough digits to tell it from other floats.
 * @returns undefined if no float is written like this number
 */
export function javaFloat(value: number): string | undefined {
  const float = Math.fround(value);
  for (let digits = 0; digits < 9; digits++) {
    const short = Number(float.toExponential(digits));
    if (Math.fround(short) === float) return Object.is(short, value) ? javaDouble(value) : undefined;
  }
  return undefined;
}

/** Writes a number without an exponent. */
export function plainDecimal(value: number): string {
  const [, sign = '', whole, fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(String(value)) ?? [];
  if (whole === undefined) return String(value);
  const digits = `${whole}${fraction}`;
  const point = whole.length + Number(exponent);
  return point <= 0 ? `${sign}0.${'0'.repeat(-point)}${digits}` : `${sign}${digits.padEnd(point, '0')}`;
}

function withPoint(digits: string): string {
  return digits.includes('.') ? digits : `${digits}.0`;
}
