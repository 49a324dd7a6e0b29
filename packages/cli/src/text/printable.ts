/** Characters that a terminal would obey, or that would break the line. */
const CONTROL = /[\p{Control}\p{Format}\p{Surrogate}\u2028\u2029]/gu;

/** Makes text from outside harmless to a terminal, and keeps it on one line. */
export function printable(text: string): string {
  return text.replace(CONTROL, escapeOf);
}

/** Makes text of several lines harmless, and keeps its lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Writes a value as JSON on one line, harmless to a terminal, unlike that of `JSON.stringify`. */
export function printableJson(value: object): string {
  return JSON.stringify(value).replace(CONTROL, (character) => character.split('').map(jsonEscapeOf).join(''));
}

function jsonEscapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function escapeOf(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  return [...character].map((each) => `\\u{${each.codePointAt(0)!.toString(16)}}`).join('');
}

/** Removes the user and the password from every URL in a text. */
export function withoutLogins(text: string): string {
  return withoutLoginsAfter('://', text);
}

/** Removes whatever may be a password, however a URL was mistyped. Ids of messages may be removed as well. */
export function withoutPasswords(text: string): string {
  return withoutLoginsAfter(':', text);
}

/** Replaces what is between a mark and the last `@` of the same word. Takes linear time, unlike a regular expression for both. */
function withoutLoginsAfter(mark: string, text: string): string {
  return text.replace(/\S+/g, (word) => {
    const from = word.indexOf(mark) + mark.length;
    const to = word.lastIndexOf('@');
    return word.includes(mark) && to >= from ? `${word.slice(0, from)}***${word.slice(to)}` : word;
  });
}
