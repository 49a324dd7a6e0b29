import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import ts from 'typescript';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** An option, read from its type and its comment. */
export interface DocumentedOption {
  readonly name: string;
  /** True for a number or a duration. */
  readonly isMeasured: boolean;
  /** True if it may be omitted. */
  readonly isOptional: boolean;
  /** The first sentence, without its full stop. */
  readonly meaning: string;
  /** The sentence with the limits, without its full stop. */
  readonly range?: string;
  /** From `@defaultValue`: code, or words if it is decided elsewhere. */
  readonly defaultValue?: string;
}

/** A documented range. */
export interface DocumentedRange {
  readonly low: number;
  /** Missing in "At least 1". */
  readonly high?: number;
  /** True for the length of a text. */
  readonly isLength: boolean;
  /** A word that is accepted in place of a number. */
  readonly word?: string;
}

/**
 * @param file - the path in the project
 * @param place - the name of an interface; with a dot, that of one of its options, or of a type and the `type` of one of its kinds
 */
export function readDocumentedOptions(file: string, place: string): DocumentedOption[] {
  const source = ts.createSourceFile(file, readFileSync(path.join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const [typeName, part] = place.split('.');
  const declaration = source.statements
    .filter((each) => ts.isInterfaceDeclaration(each) || ts.isTypeAliasDeclaration(each))
    .find(({ name }) => name.text === typeName)!;
  const members =
    part === undefined ? membersOf(declaration as ts.InterfaceDeclaration) : membersOfPart(declaration, part, source);
  return members.map((property) => readOption(property, source));
}

function membersOf({ members }: ts.InterfaceDeclaration | ts.TypeLiteralNode): ts.PropertySignature[] {
  return members.filter(ts.isPropertySignature);
}

function membersOfPart(
  declaration: ts.InterfaceDeclaration | ts.TypeAliasDeclaration,
  part: string,
  source: ts.SourceFile,
): ts.PropertySignature[] {
  const isPart = (property: ts.PropertySignature) => property.name.getText(source) === part;
  const type = ts.isInterfaceDeclaration(declaration) ? membersOf(declaration).find(isPart)!.type! : declaration.type;
  const kinds = literalsIn(type).map(membersOf);
  if (ts.isInterfaceDeclaration(declaration)) return kinds[0]!;
  return kinds.find((kind) => kind.some((property) => property.type?.getText(source) === `'${part}'`))!;
}

function literalsIn(type: ts.TypeNode): ts.TypeLiteralNode[] {
  return (ts.isUnionTypeNode(type) ? [...type.types] : [type]).filter(ts.isTypeLiteralNode);
}

function readOption(property: ts.PropertySignature, source: ts.SourceFile): DocumentedOption {
  const [comment] = ts.getJSDocCommentsAndTags(property);
  const [tag] = ts.getAllJSDocTags(property, (each): each is ts.JSDocTag => each.tagName.text === 'defaultValue');
  const sentences = sentencesOf(textOf(comment));
  return {
    name: property.name.getText(source),
    isMeasured: literalsIn(property.type!).length === 0 && /\b(number|Duration)\b/.test(property.type!.getText(source)),
    isOptional: property.questionToken !== undefined,
    meaning: sentences[0] ?? '',
    range: sentences.find((sentence) => /^(\d|At least)/.test(sentence)),
    defaultValue: tag && textOf(tag),
  };
}

function textOf(comment: { comment?: string | ts.NodeArray<ts.JSDocComment> } | undefined): string {
  return (ts.getTextOfJSDocComment(comment?.comment) ?? '').replace(/\s+/g, ' ').trim();
}

/** A full stop within code or within a number does not end a sentence. */
function sentencesOf(text: string): string[] {
  return [...text.matchAll(/((?:`[^`]*`|[^.`]|\.(?=\S))+)\.(?:\s|$)/g)].map(([, sentence]) => sentence!.trim());
}

/** The value of code such as `'30s'`, or undefined for words. */
export function evaluateCode(text: string): unknown {
  const [, code] = /^`(.*)`$/.exec(text) ?? [];
  return code === undefined ? undefined : runInNewContext(`(${code})`);
}

/**
 * Reads "1–1000", "1 s – 24 h, or `'none'`", "1 byte – 512 MiB", "At least 1" or "1–64 of the characters …".
 *
 * @param toNumber - reads one of the limits
 */
export function readRange(range: string, toNumber: (limit: string) => number): DocumentedRange {
  const limit = String.raw`\d[\d,.]*(?: (?:ms|s|min|h|years|bytes?|MiB)\b)?`;
  const pattern = new RegExp(`^(?:At least (${limit})|(${limit}) ?– ?(${limit}))(.*)$`);
  const [, least, low, high, rest = ''] = pattern.exec(range) ?? [];
  const word = /^, or (`.*`)$/.exec(rest)?.[1];
  return {
    low: toNumber(least ?? low ?? ''),
    ...(high !== undefined && { high: toNumber(high) }),
    isLength: range.includes('characters'),
    ...(word !== undefined && { word: evaluateCode(word) as string }),
  };
}
