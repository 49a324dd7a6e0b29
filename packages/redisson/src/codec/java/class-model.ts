import { DelayQueueError } from 'nestjs-delay-queue';
import type { JavaClasses } from './java-classes.js';
import { type JavaType, PRIMITIVES } from './java-type.js';
import { platformClasses, simpleNames } from './platform-classes.js';
import { parseType, TypeSyntaxError } from './type-parser.js';

/** A declared class with fields. */
export interface FieldsClass {
  readonly kind: 'fields';
  readonly name: string;
  readonly isFinal: boolean;
  readonly isRecord: boolean;
  /** By name, in the order of the declaration. */
  readonly fields: ReadonlyMap<string, JavaType>;
}

/** A declared enum, or one of Java's own. */
export interface EnumClass {
  readonly kind: 'enum';
  readonly name: string;
  /** False if a constant has a body, and so a class of its own. */
  readonly isFinal: boolean;
  readonly constants: readonly string[];
}

export type DeclaredClass = FieldsClass | EnumClass;

/** The declared classes, and Java's own enums, by full name. */
export type ClassModel = ReadonlyMap<string, DeclaredClass>;

const IDENTIFIER = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
const CLASS_KEY = /^(?:(?<prefix>final|record)\s+)?(?<name>[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)*)$/u;

/** Parses declared classes. @throws DelayQueueError `INVALID_OPTION`, naming the class and the field */
export function parseClasses(classes: JavaClasses): ClassModel {
  if (!isObject(classes) || Array.isArray(classes))
    throw invalid('classes: must be an object whose keys are full class names');
  const headers = Object.keys(classes).map(headerOf);
  const declared = new Set<string>();
  for (const { key, name } of headers) {
    if (declared.has(name)) throw invalid(`${at(key)}: ${name} is declared twice`);
    declared.add(name);
  }
  const model = new Map<string, DeclaredClass>(JAVAS_ENUMS);
  for (const header of headers) model.set(header.name, classOf(header, classes[header.key], declared));
  return model;
}

/** True if no class can extend this one, so that a field of this type holds nothing else. An array is final if its elements are. */
export function isFinal(model: ClassModel, { name, element }: JavaType): boolean {
  if (element !== undefined) return isFinal(model, element);
  return PRIMITIVES.has(name) || (model.get(name) ?? platformClasses.get(name))?.isFinal === true;
}

const JAVAS_ENUMS: [string, EnumClass][] = [...platformClasses.values()].flatMap(({ name, constants }) =>
  constants === undefined ? [] : [[name, { kind: 'enum', name, isFinal: true, constants }]],
);

interface Header {
  readonly key: string;
  readonly name: string;
  readonly prefix: string | undefined;
}

function headerOf(key: string): Header {
  const { prefix, name } = CLASS_KEY.exec(key)?.groups ?? {};
  if (name === undefined) {
    throw invalid(
      `${at(key)}: must be the full name of a class, such as 'com.shop.Order' or 'final com.shop.Order$Item'`,
    );
  }
  if (platformClasses.has(name)) throw invalid(`${at(key)}: ${name} needs no declaration`);
  if (PRIMITIVES.has(name) || simpleNames.has(name))
    throw invalid(`${at(key)}: must be a full name, including the package`);
  return { key, name, prefix };
}

function classOf({ key, name, prefix }: Header, members: unknown, declared: ReadonlySet<string>): DeclaredClass {
  const isFinalClass = prefix !== undefined;
  if (Array.isArray(members)) {
    if (prefix === 'record') throw invalid(`${at(key)}: a record has fields, not constants`);
    return { kind: 'enum', name, isFinal: isFinalClass, constants: constantsOf(key, members) };
  }
  if (!isObject(members)) {
    throw invalid(`${at(key)}: must be an object with a type for each field, or an array of an enum's constants`);
  }
  const fields = new Map<string, JavaType>();
  for (const [field, text] of Object.entries(members)) fields.set(field, fieldType({ key, field, text, declared }));
  return { kind: 'fields', name, isFinal: isFinalClass, isRecord: prefix === 'record', fields };
}

function constantsOf(key: string, constants: readonly unknown[]): readonly string[] {
  if (constants.length === 0) throw invalid(`${at(key)}: must list the constants of the enum`);
  constants.forEach((constant, i) => {
    const place = `${at(key)}[${i}]`;
    // Jackson 3 writes whatever toString() returns.
    if (typeof constant !== 'string') throw invalid(`${place}: must be the text that Java writes for a constant`);
    if (constants.indexOf(constant) < i) throw invalid(`${place}: ${constant} is listed twice`);
  });
  return [...(constants as readonly string[])];
}

interface Field {
  readonly key: string;
  readonly field: string;
  readonly text: unknown;
  readonly declared: ReadonlySet<string>;
}

function fieldType({ key, field, text, declared }: Field): JavaType {
  const place = `${at(key)}.${field}`;
  if (!IDENTIFIER.test(field)) throw invalid(`${at(key)}: '${field}' cannot be the name of a field`);
  if (typeof text !== 'string') throw invalid(`${place}: must be a type as text, such as 'int' or 'List<String>'`);
  try {
    return parseType(text, (name, args) => resolve(name, args, declared));
  } catch (error) {
    if (error instanceof TypeSyntaxError) throw invalid(`${place}: '${text}': ${error.message}`);
    throw error;
  }
}

function resolve(name: string, args: JavaType[] | undefined, declared: ReadonlySet<string>): JavaType {
  const full = declared.has(name) ? name : (simpleNames.get(name) ?? name);
  if (args?.some((argument) => PRIMITIVES.has(argument.name)) === true) {
    throw new TypeSyntaxError('a primitive type cannot be a type argument');
  }
  if (PRIMITIVES.has(name)) {
    if (args !== undefined) throw new TypeSyntaxError(`${name} has no type arguments`);
    return { name };
  }
  const platform = platformClasses.get(full);
  if (platform === undefined && !declared.has(full)) throw new TypeSyntaxError(unknownClass(name));
  if (platform !== undefined && args !== undefined && args.length !== platform.parameters) {
    throw new TypeSyntaxError(`${name} has ${platform.parameters} type arguments, not ${args.length}`);
  }
  return { name: full, ...(args && { arguments: args }) };
}

function unknownClass(name: string): string {
  return name.includes('.')
    ? `${name} is not declared; add it to the classes`
    : `${name} is not a known type; a class of your own needs its full name`;
}

function at(key: string): string {
  return `classes['${key}']`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function invalid(message: string): DelayQueueError {
  return new DelayQueueError('INVALID_OPTION', message);
}
