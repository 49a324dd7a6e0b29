import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ofVariant, withoutComments } from '../../lib/redis/script/lua-source.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

const files = ['lib', 'packages/redisson/src']
  .flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file)),
  )
  .filter((file) => file.endsWith('.lua'))
  .flatMap((file) => [undefined, 'lanes'].flatMap((variant) => readLuaFile(file, variant)));
const parts = files.filter(({ isPart }) => isPart);

/** @returns none if the file has no lines of its own for this variant */
function readLuaFile(file: string, variant: string | undefined) {
  const [, home, include, name] = /(\w+)(?:\/(?:script|src))?\/lua\/(include\/)?([\w-]+)\.lua$/.exec(
    file.replaceAll(path.sep, '/'),
  )!;
  const whole = readFileSync(path.join(ROOT, file), 'utf8');
  const text = ofVariant(whole, variant);
  if (variant && text === ofVariant(whole, undefined)) return [];
  const code = withoutComments(text).replace(/'[^'\n]*'/g, "''");
  return [
    {
      file,
      variant,
      text,
      name: `${home}/${name}`,
      isPart: include !== undefined,
      includes: [...text.matchAll(/^--@include (\S+)$/gm)].map(([, part]) =>
        part!.includes('/') ? part! : `${home}/${part}`,
      ),
      defines: [...code.matchAll(/^local (?:function (\w+)|([A-Z_]+) =)/gm)].map(
        ([, name, constant]) => (name ?? constant)!,
      ),
      uses: new Set(code.match(/(?<![.\w])[A-Za-z_]\w*/g)),
    },
  ];
}

describe('a Lua file', () => {
  test.each(files)(
    '$name $variant includes the parts whose names it uses, and no others',
    ({ defines, uses, includes }) => {
      const used = parts.filter(
        (part) => !part.variant && part.defines.some((name) => uses.has(name) && !defines.includes(name)),
      );
      expect(includes.toSorted()).toEqual(used.map(({ name }) => name).sort());
    },
  );

  test('never defines a name that another part defines', () => {
    const names = parts.flatMap(({ defines, variant }) => (variant ? [] : defines));
    expect(names).toEqual([...new Set(names)]);
  });

  test('of the core names no other layout', () => {
    const ofCore = files.filter(({ file }) => file.startsWith('lib'));
    expect(ofCore.filter(({ text }) => /redisson/i.test(text)).map(({ name }) => name)).toEqual([]);
  });
});
