'use strict';

/** Edits the text of a file with one class that is decorated with `@Module({ … })`. */

const COMMENTS_AND_STRINGS = /\/\/.*|\/\*[^]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
const OPENING = '([{';
const CLOSING = ')]}';

module.exports.addToModule = (text, path, code) =>
  addImport(addToList(text, path, 'imports', code), 'DelayQueueModule', 'nestjs-delay-queue');

module.exports.addProvider = (text, path, { name, from }) =>
  addImport(addToList(text, path, 'providers', name), name, from);

/** Adds an element, perhaps of several lines, to a list in the metadata, at its end. */
function addToList(text, path, property, element) {
  const code = withoutCommentsAndStrings(text);
  const [start, end] = metadataOf(code, path, element);
  const names = code.slice(start, end).matchAll(new RegExp(String.raw`(?<![\w.])${property}\b(?:\s*:\s*)?`, 'g'));
  const found = [...names].find(({ index }) => depthBetween(code, start, start + index) === 0);
  if (found === undefined)
    return `${text.slice(0, start)}\n  ${property}: ${listOf(element, '  ')},${text.slice(start)}`;
  const open = start + found.index + found[0].length;
  if (code[open] !== '[' || !found[0].includes(':')) throw byHand(path, element, property);
  return appendTo(text, code, open, element);
}

/** The place after the opening brace of the metadata, and that of the closing one. */
function metadataOf(code, path, element) {
  const modules = [...code.matchAll(/@Module\s*\(\s*\{/g)];
  if (modules.length !== 1) throw byHand(path, element);
  const start = modules[0].index + modules[0][0].length;
  return [start, closingOf(code, start - 1)];
}

function appendTo(text, code, open, element) {
  const close = closingOf(code, open);
  const last = code.slice(0, close).trimEnd().length;
  const isEmpty = last === open + 1;
  const hasComma = code[last - 1] === ',';
  const isOverLines = text.slice(last, close).includes('\n') && !isEmpty;
  const separator = isEmpty || hasComma ? '' : ',';
  const indent = /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, last))[1];
  if (isEmpty) return `${text.slice(0, open)}${listOf(element, indent)}${text.slice(close + 1)}`;
  if (!isOverLines) return `${text.slice(0, last)}${separator} ${indented(element, indent)}${text.slice(last)}`;
  return `${text.slice(0, last)}${separator}\n${indent}${indented(element, indent)},${text.slice(last)}`;
}

/** On one line, unless the element has several. */
function listOf(element, indent) {
  if (!element.includes('\n')) return `[${element}]`;
  const inner = `${indent}  `;
  return `[\n${inner}${indented(element, inner)},\n${indent}]`;
}

const indented = (element, indent) => element.replaceAll('\n', `\n${indent}`);

function closingOf(code, open) {
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    if (OPENING.includes(code[at])) depth++;
    else if (CLOSING.includes(code[at]) && --depth === 0) return at;
  }
  return code.length;
}

function depthBetween(code, start, end) {
  const brackets = [...code.slice(start, end)];
  return brackets.filter((c) => OPENING.includes(c)).length - brackets.filter((c) => CLOSING.includes(c)).length;
}

/** The same length, so that places in it are places in the text. */
function withoutCommentsAndStrings(text) {
  return text.replace(COMMENTS_AND_STRINGS, (part) =>
    /^\/[/*]/.test(part) ? part.replace(/[^\n]/g, ' ') : part.replace(/[^\n]/g, '_'),
  );
}

/** After the last import. */
function addImport(text, name, from) {
  const code = withoutCommentsAndStrings(text);
  const imports = [...code.matchAll(/^import\b[^;]*?(?:_+;?|;)[ \t]*$/gm)];
  const last = imports.at(-1);
  const end = last === undefined ? 0 : last.index + last[0].length;
  const line = `import { ${name} } from '${from}';`;
  return end === 0 ? `${line}\n${text}` : `${text.slice(0, end)}\n${line}${text.slice(end)}`;
}

function byHand(path, element, property) {
  const place = property === undefined ? 'no @Module({ … }), or several' : `no list of ${property} in brackets`;
  return new Error(
    `${path} has ${place}: add ${element} to it by hand, see https://github.com/nestjs-delay-queue/nestjs-delay-queue#readme. Nothing was changed.`,
  );
}
