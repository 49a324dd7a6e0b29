import { createHash } from 'node:crypto';
import { camelCase, type LuaHeader, type LuaKey, readHeader } from './lua-header.js';
import { readLua } from './lua-files.js';

/** A folder of Lua files, and the names of those that belong to a library. */
export interface LuaFolder {
  readonly read: (path: string) => string;
  /** Names of files in `lua/modules`. Each adds to a table, named after the file in Pascal case, and may use all files before it. */
  readonly modules: readonly string[];
  /** Modules needed only by calls with a certain key, each with that key. */
  readonly modulesByKey?: Readonly<Record<string, string>>;
  /** Names of files in `lua`. Each registers `run`, and perhaps `short` for calls that send the fewest keys. */
  readonly functions: readonly string[];
}

export interface Script {
  readonly source: string;
  readonly sha1: string;
}

/** A function in Redis: the declarations in its header, and both ways of calling it. */
export interface RedisFunction<Part extends string = string> extends LuaHeader<Part> {
  readonly name: string;
  readonly library: RedisLibrary;
  readonly calledAs: string;
  /** The function as scripts, for servers without functions: one for each number of key sets that a call can send. */
  readonly scripts: readonly Script[];
  /** True if it takes a `deadline`, the time after which it refuses to run. */
  readonly hasDeadline: boolean;
  /** The key that decides which server of a cluster is called; undefined: any server. */
  readonly firstKey: Part | undefined;
}

/** The server's functions that Lua files use, by the names used in those files. */
const BUILT_IN: Readonly<Record<string, string>> = {
  ...{ call: 'redis.call', protected_call: 'redis.pcall', acl_check: 'redis.acl_check_cmd', sha1hex: 'redis.sha1hex' },
  ...{ find: 'string.find', match: 'string.match', gmatch: 'string.gmatch', sub: 'string.sub', byte: 'string.byte' },
  ...{ format: 'string.format', pack: 'struct.pack', unpack_bytes: 'struct.unpack', concat: 'table.concat' },
  ...{
    sort: 'table.sort',
    floor: 'math.floor',
    ceil: 'math.ceil',
    min: 'math.min',
    max: 'math.max',
    huge: 'math.huge',
  },
};
const GLOBALS = ['tonumber', 'unpack', 'ipairs', 'pairs', 'type', 'next', 'select', 'error'];
const NAMES = [...Object.keys(BUILT_IN), ...GLOBALS].join(', ');

/** While a library loads, none of these exist yet, so the first call assigns them to locals, which cost less than globals. */
const PRELUDE = `local function built_in() return ${[...Object.values(BUILT_IN), ...GLOBALS].join(', ')} end
local ${NAMES}
local function connect() ${NAMES} = built_in() end
local function register(name, flags, run, few, short)
local function callback(keys, args)
if not call then connect() end
if few and not keys[few + 1] then return short(keys, args) end
return run(keys, args)
end
redis.register_function{ function_name = name .. '_' .. DIGEST, flags = flags, callback = callback, description = PURPOSE }
end
`;

/** Library and function names are global on a server, where several versions run side by side, so each contains a digest of the code. */
const DIGEST_LENGTH = 12;

const SOURCE = /^#!lua name=(delay_queue_(\w+))\nlocal DIGEST = '\2'\n(local PURPOSE = '([^']*)'\n[^]*)$/;

type CamelCase<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** A top-level statement of a file. */
interface Statement {
  readonly text: string;
  /** The names that the statement defines, as other statements use them. */
  readonly defines: readonly string[];
}

export interface LoadedLibrary {
  readonly name: string;
  /** What the library's functions are for. The same in all versions. */
  readonly purpose: string;
}

export class RedisLibrary implements LoadedLibrary {
  readonly name: string;
  readonly source: string;
  readonly #folders: readonly LuaFolder[];
  readonly #modules: readonly { readonly statements: readonly Statement[]; readonly key: string | undefined }[];
  readonly #digest: string;

  /** @param purpose - what the functions are for, shown by `FUNCTION LIST`; without quotes */
  constructor(
    readonly purpose: string,
    folders: readonly LuaFolder[],
  ) {
    this.#folders = folders;
    const own: LuaFolder = { read: readLua, modules: ['permissions'], functions: [] };
    const modules = [own, ...folders].flatMap((folder) => folder.modules.map((name) => ({ ...folder, name })));
    const texts = modules.map(({ name, read, modulesByKey }) => ({
      ...{ name: pascalCase(name), text: read(`lua/modules/${name}`), key: modulesByKey?.[name] },
    }));
    this.#modules = texts.map(({ text, key }) => ({ statements: statementsOf(text), key }));
    const functions = folders.flatMap((each) => each.functions.map((name) => each.read(`lua/${name}`)));
    const body = [
      `local PURPOSE = '${purpose}'\n${PRELUDE}`,
      ...texts.map(({ name, text }) => `local ${name} = {}\n${block(text)}`),
      ...functions.map((text) => block(text)),
    ];
    this.#digest = digestOf(body.join(''));
    this.name = `delay_queue_${this.#digest}`;
    this.source = [`#!lua name=${this.name}\nlocal DIGEST = '${this.#digest}'\n`, ...body].join('');
  }

  /** Recognizes a library of any version of this package by the digest in its name. Undefined for any other library. */
  static recognize(source: string): LoadedLibrary | undefined {
    const [, name = '', digest, code = '', purpose = ''] = SOURCE.exec(source) ?? [];
    return digest !== undefined && digestOf(code) === digest ? { name, purpose } : undefined;
  }

  /**
   * Reads the declarations in a function's header.
   * @param layout - the keys of any queue, by the names that a header may use
   * @throws Error if the header cannot be read, or names a key that the layout lacks
   */
  define<Part extends string>(name: string, layout: Readonly<Record<Part, string>>): RedisFunction<Part> {
    const text = this.#folders.find(({ functions }) => functions.includes(name))!.read(`lua/${name}`);
    const header = readHeader(name, text) as LuaHeader<Part>;
    const unknown = header.keys.flat().find(({ part }) => !(part in layout));
    if (unknown) throw new Error(`${name}: its header names the key ${unknown.part}, which the layout lacks`);
    const calledAs = `${name.replaceAll('-', '_')}_${this.#digest}`;
    const hasDeadline = header.args.flat().some((argument) => argument.name === 'deadline');
    const scripts = once(() =>
      header.keys.map((_set, further) => this.#scriptOf(text, further, header.keys.slice(0, further + 1).flat())),
    );
    return {
      ...{ ...header, name, library: this, calledAs, hasDeadline, firstKey: header.keys[0]?.[0]?.part },
      get scripts() {
        return scripts();
      },
    };
  }

  /** {@link define}s functions. The result has their names in camel case. */
  defineAll<Name extends string, Part extends string>(
    names: readonly Name[],
    layout: Readonly<Record<Part, string>>,
  ): Readonly<Record<CamelCase<Name>, RedisFunction<Part>>> {
    const defined = names.map((name) => [camelCase(name), this.define(name, layout)] as const);
    return Object.fromEntries(defined) as Record<CamelCase<Name>, RedisFunction<Part>>;
  }

  /** Makes a script with only the functions that a call with these keys needs, because each call creates them again. */
  #scriptOf(text: string, further: number, keys: readonly LuaKey[]): Script {
    const entry = further === 0 && text.includes('\nlocal function short(') ? 'short' : 'run';
    const modules = this.#modules.filter(({ key }) => key === undefined || keys.some(({ part }) => part === key));
    const all = [...modules.flatMap(({ statements }) => statements), ...statementsOf(text)].map((each) => ({
      ...each,
      text: withLocals(each.text),
    }));
    const needed = neededFor(entry, all);
    const body = needed
      .pop()!
      .text.replace(/^local function \w+\(.*\)\n/, '')
      .replace(/^end\n*(?![^])/m, '');
    const flags = /^register\('\w+', \{ '([\w-]+)' \}/m.exec(text)?.[1];
    const parts = [...needed, { text: `local keys, args = KEYS, ARGV\n${body}`, defines: [] }];
    const source = bare(`#!lua${flags === undefined ? '' : ` flags=${flags}`}\n${withBuiltIn(parts)}`);
    return { source, sha1: sha1Of(source) };
  }
}

/** Prepends locals for those of the server's functions that these statements use. */
function withBuiltIn(statements: readonly Statement[]): string {
  const code = statements.map(({ text }) => text).join('');
  const used = Object.entries(BUILT_IN).filter(([name]) => mentions(code, name));
  return `local ${used.map(([name]) => name).join(', ')} = ${used.map(([, value]) => value).join(', ')}\n${code}`;
}

/** Returns the statement that defines a name, preceded by everything it needs, in order. Empty if nothing defines the name. */
function neededFor(name: string, all: readonly Statement[]): Statement[] {
  const last = all.findLastIndex(({ defines }) => defines.includes(name));
  const needed = last < 0 ? [] : [all[last]!];
  for (const each of all.slice(0, Math.max(0, last)).reverse()) {
    const isUsed = each.defines.some((defined) =>
      needed.some((user) => mentions(user.text, defined.replace('.', '_'))),
    );
    if (isUsed) needed.push(each);
  }
  return needed.reverse();
}

const STATEMENT = /^(?:local|function|[A-Z])[^]*?(?=^(?:local|function|register|[A-Z])|$(?![^]))/gm;

function statementsOf(text: string): Statement[] {
  return [...text.matchAll(STATEMENT)].map(([statement]) => {
    const names = /^(?:local function|local|function)? ?([\w., ]+?)(?: =|\()/.exec(statement)![1]!;
    return { text: statement, defines: names.split(', ') };
  });
}

/** Makes what modules define local to a script, under names without a dot: a script has few definitions, so it needs no tables. */
function withLocals(statement: string): string {
  const flat = statement.replace(/\b([A-Z]\w+)\.(\w+)/g, '$1_$2');
  return flat.replace(/^(?=function|[A-Z])/, 'local ');
}

const mentions = (text: string, name: string) => new RegExp(`\\b${name}\\b`).test(text);
const block = (text: string) => `do\n${bare(text)}end\n`;
const digestOf = (code: string) => sha1Of(code).slice(0, DIGEST_LENGTH);
const sha1Of = (text: string) => createHash('sha1').update(text).digest('hex');
const pascalCase = (name: string) => name.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase());

/** Removes comments, empty lines and indentation, because the server keeps the source. */
const bare = (text: string) => text.replace(/^ *--.*\n/gm, '').replace(/^[ \n]+/gm, '');

function once<Value extends object>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= create());
}

/** The library of the functions that belong to no layout. */
export const ownLibrary = new RedisLibrary('nestjs-delay-queue: permissions and rates', [
  { read: readLua, modules: [], functions: ['check-permissions', 'take-signals'] },
]);

export const ownFunctions = {
  checkPermissions: ownLibrary.define('check-permissions', {}),
  takeSignals: ownLibrary.define('take-signals', {}),
};
