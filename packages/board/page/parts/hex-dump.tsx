import { useMemo, useState } from 'preact/hooks';
import { formatBytes } from './format.js';

const PER_LINE = 16;
const STEP = 2048;

/** Bytes as hexadecimal numbers, with the characters that they would be in ASCII. */
export function HexDump({ base64, size }: { readonly base64: string; readonly size: number }) {
  const bytes = useMemo(() => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)), [base64]);
  const [shown, setShown] = useState(STEP);
  return (
    <>
      <p class="hint">{formatBytes(size)}, not JSON</p>
      <pre tabIndex={0} aria-label="Bytes, in hexadecimal">
        {dump(bytes.subarray(0, shown))}
      </pre>
      {bytes.length > shown && (
        <button type="button" class="small" onClick={() => setShown(shown + STEP * 8)}>
          Show more bytes
        </button>
      )}
    </>
  );
}

function dump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += PER_LINE) {
    const line = [...bytes.subarray(offset, offset + PER_LINE)];
    const hex = line.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = line.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${offset.toString(16).padStart(6, '0')}  ${hex.padEnd(PER_LINE * 3 - 1)}  ${text}`);
  }
  return lines.join('\n');
}
