/** Characters that a terminal would obey, or that would break the line. */
const CONTROL = /[\p{Control}\p{Format}\p{Surrogate}\u2028\u2029]/gu;

/** Makes text from outside harmless to a terminal, and keeps it on one line. */
export function printable(text: string): string {
  return text.replace(CONTROL, escapeOf);
}

function escapeOf(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  return [...character].map((each) => `\\u{${each.codePointAt(0)!.toString(16)}}`).join('');
}

/** Removes the user and the password from every URL in a text. */
export function withoutLogins(text: string): string {
  return text.replace(/:\/\/\S*@/g, '://***@');
}

/** Removes whatever may be a password, however a URL was mistyped. Ids of messages may look the same. */
export function withoutPasswords(text: string): string {
  return text.replace(/:\S*@/g, ':***@');
}
