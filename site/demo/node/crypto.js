import { Buffer } from 'buffer/';

export const randomBytes = (size) => new RandomBytes(crypto.getRandomValues(new Uint8Array(size)));

/** The package `buffer` knows no base64url. */
class RandomBytes {
  constructor(bytes) {
    this.bytes = bytes;
  }
  toString(encoding) {
    const text = Buffer.from(this.bytes).toString(encoding === 'base64url' ? 'base64' : encoding);
    return encoding === 'base64url' ? text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') : text;
  }
}

export const randomUUID = () => crypto.randomUUID();

/** Only tells things apart: FNV-1a, in place of a digest. Nothing here is checked by another program. */
function fingerprint(text) {
  let hash = 0xcbf29ce484222325n;
  for (const char of String(text)) hash = ((hash ^ BigInt(char.codePointAt(0))) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash.toString(16).padStart(16, '0');
}

export const hash = (_algorithm, text) => fingerprint(text);

export function createHash() {
  let text = '';
  const hashing = {
    update: (more) => ((text += more), hashing),
    digest: () => fingerprint(text),
  };
  return hashing;
}

/** Nest signs cookies and sends files with them: never here. */
export const createHmac = createHash;
export const timingSafeEqual = (a, b) => a === b;

export default { randomBytes, randomUUID, hash, createHash, createHmac, timingSafeEqual };
