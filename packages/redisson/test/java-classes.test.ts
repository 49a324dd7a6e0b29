import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type ClassModel, isFinal, parseClasses } from '../src/codec/java/class-model.js';
import { kryo5 } from '../src/codec/kryo/kryo5-codec.js';
import type { JavaClasses } from '../src/codec/java/java-classes.js';
import { type JavaType, typeOfName } from '../src/codec/java/java-type.js';
import { JavaValue } from '../src/codec/java/java-value.js';
import { platformClasses } from '../src/codec/java/platform-classes.js';

const ITEM = { 'com.shop.Item': {} };

function modelOf(type: string): { model: ClassModel; type: JavaType } {
  const model = parseClasses({ ...ITEM, 'final com.shop.Sealed': {}, 'com.shop.Order': { field: type } });
  const order = model.get('com.shop.Order');
  return { model, type: order?.kind === 'fields' ? order.fields.get('field')! : { name: 'none' } };
}

describe('declared Java classes', () => {
  it('are parsed with their fields in order', () => {
    const model = parseClasses({
      'com.shop.Order': { id: 'String', count: 'int' },
      'record com.shop.Money': { amount: 'BigDecimal' },
      'final com.shop.Order$Address': {},
    });
    expect(model.get('com.shop.Order')).toEqual({
      kind: 'fields',
      name: 'com.shop.Order',
      isFinal: false,
      isRecord: false,
      fields: new Map([
        ['id', { name: 'java.lang.String' }],
        ['count', { name: 'int' }],
      ]),
    });
    expect(model.get('com.shop.Money')).toMatchObject({ isFinal: true, isRecord: true });
    expect(model.get('com.shop.Order$Address')).toMatchObject({ isFinal: true, isRecord: false });
  });

  it('are enums if declared as arrays, and include the enums of the JDK', () => {
    const model = parseClasses({ 'final com.shop.Status': ['NEW', 'PAID'], 'com.shop.Shape': ['ROUND'] });
    expect(model.get('com.shop.Status')).toMatchObject({ kind: 'enum', isFinal: true, constants: ['NEW', 'PAID'] });
    expect(model.get('com.shop.Shape')).toMatchObject({ kind: 'enum', isFinal: false });
    expect(model.get('java.util.concurrent.TimeUnit')).toMatchObject({ kind: 'enum', isFinal: true });
  });

  it('ignore later changes to the declaration object', () => {
    const classes = { 'final com.shop.Status': ['NEW'], 'com.shop.Order': { id: 'String' } as Record<string, string> };
    const model = parseClasses(classes);
    classes['final com.shop.Status'].push('PAID');
    classes['com.shop.Order'].count = 'int';
    expect(model.get('com.shop.Status')).toMatchObject({ constants: ['NEW'] });
    expect(model.get('com.shop.Order')).toMatchObject({ fields: new Map([['id', { name: 'java.lang.String' }]]) });
  });

  it.each<[text: string, type: unknown]>([
    ['int', { name: 'int' }],
    ['Long', { name: 'java.lang.Long' }],
    ['java.lang.Long', { name: 'java.lang.Long' }],
    ['Date', { name: 'java.util.Date' }],
    ['java.sql.Date', { name: 'java.sql.Date' }],
    ['Timestamp', { name: 'java.sql.Timestamp' }],
    ['AtomicLong', { name: 'java.util.concurrent.atomic.AtomicLong' }],
    ['Instant', { name: 'java.time.Instant' }],
    ['com.shop.Item', { name: 'com.shop.Item' }],
    ['com.shop.Order', { name: 'com.shop.Order' }],
    ['int[]', { name: '[I', element: { name: 'int' } }],
    ['String[ ]', { name: '[Ljava.lang.String;', element: { name: 'java.lang.String' } }],
    ['long[][]', { name: '[[J', element: { name: '[J', element: { name: 'long' } } }],
    ['List', { name: 'java.util.List' }],
    ['List<com.shop.Item>', { name: 'java.util.List', arguments: [{ name: 'com.shop.Item' }] }],
    [
      ' Map < String , List<Long> > ',
      {
        name: 'java.util.Map',
        arguments: [{ name: 'java.lang.String' }, { name: 'java.util.List', arguments: [{ name: 'java.lang.Long' }] }],
      },
    ],
    ['List<?>', { name: 'java.util.List', arguments: [{ name: 'java.lang.Object' }] }],
    ['List<? extends List<String>>', { name: 'java.util.List', arguments: [{ name: 'java.util.List' }] }],
    ['List<? super Integer>', { name: 'java.util.List', arguments: [{ name: 'java.lang.Integer' }] }],
    ['List<byte[]>', { name: 'java.util.List', arguments: [{ name: '[B', element: { name: 'byte' } }] }],
    ['com.shop.Item<String>', { name: 'com.shop.Item', arguments: [{ name: 'java.lang.String' }] }],
  ])('accept field types in Java notation: %s', (text, type) => {
    expect(modelOf(text).type).toEqual(type);
  });

  it.each([
    ['int', true],
    ['String', true],
    ['int[]', true],
    ['String[][]', true],
    ['com.shop.Sealed', true],
    ['com.shop.Sealed[]', true],
    ['TimeUnit', true],
    ['BigDecimal', false],
    ['List<String>', false],
    ['com.shop.Item', false],
    ['com.shop.Item[]', false],
    ['Object', false],
  ])('determine whether a type is final: %s', (text, final) => {
    const { model, type } = modelOf(text);
    expect(isFinal(model, type)).toBe(final);
  });

  it.each<[classes: unknown, message: string]>([
    [null, 'classes: must be an object whose keys are full class names'],
    [[], 'classes: must be an object whose keys are full class names'],
    [{ 'com shop': {} }, "classes['com shop']: must be the full name of a class"],
    [{ 'static com.shop.Order': {} }, "classes['static com.shop.Order']: must be the full name of a class"],
    [{ 'java.util.Date': {} }, "classes['java.util.Date']: java.util.Date needs no declaration"],
    [{ Date: {} }, "classes['Date']: must be a full name, including the package"],
    [{ 'a.B': {}, 'final a.B': {} }, "classes['final a.B']: a.B is declared twice"],
    [
      { 'a.B': 'C' },
      "classes['a.B']: must be an object with a type for each field, or an array of an enum's constants",
    ],
    [{ 'a.B': null }, "classes['a.B']: must be an object with a type for each field"],
    [{ 'a.B': [] }, "classes['a.B']: must list the constants of the enum"],
    [{ 'a.B': ['A', 5] }, "classes['a.B'][1]: must be the text that Java writes for a constant"],
    [{ 'a.B': ['A', 'A'] }, "classes['a.B'][1]: A is listed twice"],
    [{ 'record a.B': ['A'] }, "classes['record a.B']: a record has fields, not constants"],
    [{ 'a.B': { 'c-d': 'int' } }, "classes['a.B']: 'c-d' cannot be the name of a field"],
    [{ 'a.B': { c: 5 } }, "classes['a.B'].c: must be a type as text, such as 'int' or 'List<String>'"],
    [{ 'a.B': { c: '' } }, "classes['a.B'].c: '': it is not a Java type"],
    [{ 'a.B': { c: 'int int' } }, "classes['a.B'].c: 'int int': it is not a Java type"],
    [{ 'a.B': { c: 'List<' } }, "classes['a.B'].c: 'List<': it is not a Java type"],
    [{ 'a.B': { c: 'List<String' } }, "classes['a.B'].c: 'List<String': a '>' is missing"],
    [{ 'a.B': { c: 'List<int>' } }, 'a primitive type cannot be a type argument'],
    [{ 'a.B': { c: 'int<String>' } }, 'int has no type arguments'],
    [{ 'a.B': { c: 'Map<String>' } }, 'Map has 2 type arguments, not 1'],
    [{ 'a.B': { c: 'Strin' } }, 'Strin is not a known type; a class of your own needs its full name'],
    [{ 'a.B': { c: 'List<a.C>' } }, "classes['a.B'].c: 'List<a.C>': a.C is not declared; add it to the classes"],
  ])('are refused with an error that names the class and the field: %j', (classes, message) => {
    expect(() => parseClasses(classes as JavaClasses)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(message) }),
    );
  });
});

describe('the DeclareClasses program', () => {
  it('knows the same JDK classes as the codec', () => {
    const source = readFileSync(new URL('../declare-classes/DeclareClasses.java', import.meta.url), 'utf8');
    const known = [...source.matchAll(/KNOWN\.put\(\s*"([\w.]+)",([^;]*)\);/g)].flatMap(([, home, names]) =>
      [...names!.matchAll(/\w+/g)].map(([name]) => `${home}.${name}`),
    );
    expect(known.sort()).toEqual([...platformClasses.keys()].sort());
  });
});

describe('the DeclareClasses program, for Kryo', () => {
  it('refuses the JDK classes that the codec refuses', () => {
    const source = readFileSync(new URL('../declare-classes/DeclareClasses.java', import.meta.url), 'utf8');
    const [, names] = /UNKNOWN_TO_KRYO5 = Arrays\.asList\(([^)]*)\)/.exec(source)!;
    const refused = [...platformClasses.values()].filter(({ name, parameters }) => {
      const args = parameters === 0 ? '' : `<${Array.from({ length: parameters }, () => 'Object').join(', ')}>`;
      try {
        kryo5({ classes: { 'com.shop.Order': { field: name + args } } });
        return false;
      } catch {
        return true;
      }
    });
    expect([...names!.matchAll(/\w+/g)].map(([name]) => `java.util.${name}`)).toEqual(refused.map(({ name }) => name));
  });
});

describe('the name of a Java class', () => {
  it.each(['java.lang.String', '[I', '[[Lcom.shop.Item;', '[Ljava.lang.Object;'])(
    'is accepted and kept as the name of its type: %s',
    (name) => {
      expect(typeOfName(name)?.name).toBe(name);
    },
  );

  it.each(['', '[', '[X', '[Lcom.shop.Item'])('is refused if malformed: %p', (name) => {
    expect(typeOfName(name)).toBeUndefined();
  });
});

describe('a Java value', () => {
  it('is printed as its plain value', () => {
    expect(String(new JavaValue('java.util.UUID', 'a-b'))).toBe('a-b');
    expect(JSON.stringify([new JavaValue('java.lang.Float', 1.5), new JavaValue('java.lang.Long', 5n)])).toBe(
      '[1.5,"5"]',
    );
  });
});
