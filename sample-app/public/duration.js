const UNITS = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };

/**
 * Converts a number in a unit to milliseconds.
 *
 * @throws an Error that names the field and says what it must be
 */
export function readDuration(field, text, unit) {
  const trimmed = text.trim();
  const milliseconds = Math.round(Number(trimmed) * UNITS[unit]);
  if (!/^\d*\.?\d+$/.test(trimmed) || !Number.isFinite(milliseconds)) {
    throw new Error(`${field} must be a number, such as 30${trimmed && `, not ${trimmed}`}`);
  }
  return milliseconds;
}
