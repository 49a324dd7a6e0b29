import { describe, expect, test } from '@jest/globals';
import { createRequire } from 'node:module';

interface EditModule {
  addToModule(text: string, path: string, code: string): string;
  addProvider(text: string, path: string, provider: { name: string; from: string }): string;
}

const require = createRequire(import.meta.url);
const { addToModule, addProvider } = require('../../schematics/nest-add/edit-module.cjs') as EditModule;

const MODULE = 'DelayQueueModule.forRoot()';
const IMPORTS = "import { Module } from '@nestjs/common';\nimport { AppService } from './app.service';\n";
const moduleWith = (metadata: string) => `${IMPORTS}\n@Module({${metadata}})\nexport class AppModule {}\n`;
const added = (metadata: string) => addToModule(moduleWith(metadata), 'src/app.module.ts', MODULE);

describe('the module file that nest add edits', () => {
  test.each([
    ['an empty list', ' imports: [] ', ` imports: [${MODULE}] `],
    ['a list on one line', ' imports: [A, B] ', ` imports: [A, B, ${MODULE}] `],
    ['a list that ends with a comma', ' imports: [A,] ', ` imports: [A, ${MODULE}] `],
    [
      'a list over several lines',
      '\n  imports: [\n    A,\n    B,\n  ],\n',
      `\n  imports: [\n    A,\n    B,\n    ${MODULE},\n  ],\n`,
    ],
    [
      'a list with calls, comments and strings that hold brackets',
      "\n  imports: [\n    A.forRoot({ imports: [], text: ')]}' }), // B]\n  ],\n",
      `\n  imports: [\n    A.forRoot({ imports: [], text: ')]}' }),\n    ${MODULE}, // B]\n  ],\n`,
    ],
    ['no list', ' providers: [AppService] ', `\n  imports: [${MODULE}], providers: [AppService] `],
    ['no metadata', '', `\n  imports: [${MODULE}],`],
    [
      'no list except a nested one',
      ' providers: [f({ imports: [A] })] ',
      `\n  imports: [${MODULE}], providers: [f({ imports: [A] })] `,
    ],
  ])('is extended if it has %s', (_, before, after) => {
    const imported = IMPORTS + "import { DelayQueueModule } from 'nestjs-delay-queue';\n";
    expect(added(before)).toBe(moduleWith(after).replace(IMPORTS, imported));
  });

  test('gets the import of an added provider after all other imports', () => {
    const text = `import {\n  Module,\n} from "@nestjs/common"\n@Module({ providers: [A] })\nexport class AppModule {}\n`;
    expect(addProvider(text, 'a.ts', { name: 'Reminders', from: './reminders.js' })).toBe(
      `import {\n  Module,\n} from "@nestjs/common"\nimport { Reminders } from './reminders.js';\n@Module({ providers: [A, Reminders] })\nexport class AppModule {}\n`,
    );
  });

  test.each([
    ['metadata from a variable', '@Module(metadata) class A {}'],
    ['a list from a variable', '@Module({ imports: modules }) class A {}'],
    ['a list given by its name alone', '@Module({ imports, providers: [] }) class A {}'],
    ['a list that a call creates', '@Module({ imports: base.concat([A]) }) class A {}'],
    ['two modules', '@Module({}) class A {}\n@Module({}) class B {}'],
    ['no module except one in a comment', '// @Module({ imports: [] })\nexport const a = 1;'],
  ])('is rejected if it has %s, with an error that says what to add', (_, text) => {
    expect(() => addToModule(text, 'src/app.module.ts', MODULE)).toThrow(
      /^src\/app\.module\.ts has no .*: add DelayQueueModule\.forRoot\(\) to it by hand/,
    );
  });
});
