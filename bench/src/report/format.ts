/** A number with two or three significant digits. */
function formatNumber(value: number): string {
  if (value >= 1_000_000) return `${trim(value / 1_000_000)}M`;
  if (value >= 10_000) return `${trim(value / 1_000)}k`;
  if (value >= 1_000) return `${Math.round(value).toLocaleString('en')}`;
  return trim(value);
}

/** A number with its unit. Long times are in seconds. */
export function formatFigure(value: number, unit: string): string {
  if (unit === 'ms' && value >= 10_000) return formatFigure(value / 1_000, 's');
  return `${formatNumber(value)}${unit === '' || unit.startsWith('/') ? '' : ' '}${unit}`;
}

export function formatRatio(value: number): string {
  return `${trim(value)}×`;
}

/** A difference as a percentage with its sign. */
export function formatDifference(share: number): string {
  return `${share < 0 ? '' : '+'}${(share * 100).toFixed(1)} %`;
}

function trim(value: number): string {
  if (value < 1) return String(Number(value.toPrecision(2)));
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return String(Number(value.toFixed(digits)));
}
