import eslint from '@eslint/js';
import prettier from 'eslint-config-prettier';
import jest from 'eslint-plugin-jest';
import regexp from 'eslint-plugin-regexp';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** A layout must be addable, and removable, without a change of the core. Comments count: they are what one reads first. */
const coreNamesNoLayout = {
  create: ({ report, sourceCode }) => ({
    Program() {
      for (const { index } of sourceCode.text.matchAll(/redisson|\bjava\b/gi)) {
        const message = 'The core asks a layout what it can, and names none.';
        report({ loc: sourceCode.getLocFromIndex(index), message });
      }
    },
  }),
};

export default defineConfig(
  globalIgnores([
    ...['**/dist', 'coverage', 'temp', 'docs', 'sample-app/public', 'site/public', 'site/demo', 'site/.vitepress'],
    // These need packages of their own to be checked: their tests do that.
    ...['examples', 'test/outbox/libraries'],
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  eslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // `consistent-type-imports` stays off: its fix turns the import of an injected class into `import type`, and then
      // dependency injection by constructor type finds nothing. `verbatimModuleSyntax` covers the rest.
      '@typescript-eslint/consistent-type-imports': 'off',
      // Numbers, booleans and `unknown` errors read well in a template; an object that prints as [object Object] does not.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // `Duration | 'none'` is documentation, although `Duration` includes every string.
      '@typescript-eslint/no-redundant-type-constituents': 'off',
      // An empty environment variable counts as unset, so `||` is intended.
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      // An empty function is a clear stand-in.
      '@typescript-eslint/no-empty-function': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    // What is shipped must match any text in linear time.
    files: ['{lib,schematics,packages/*/{src,page}}/**/*.{ts,tsx,js}'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    files: ['lib/**/*.ts'],
    // It says where the layout that was there has gone.
    ignores: ['lib/redisson/index.ts'],
    plugins: { layouts: { rules: { 'core-names-none': coreNamesNoLayout } } },
    rules: { 'layouts/core-names-none': 'error' },
  },
  {
    files: ['{test,packages/*/test}/**/*.ts'],
    extends: [jest.configs['flat/recommended']],
    settings: { jest: { version: 30 } },
    rules: {
      'jest/no-disabled-tests': 'error',
      'jest/no-commented-out-tests': 'error',
      'jest/expect-expect': ['error', { assertFunctionNames: ['expect', 'expect*'] }],
      // A contract suite declares its tests in a function that each store's test file calls.
      'jest/no-export': 'off',
      // A test may assert in a support function, or after it caught an error.
      'jest/no-standalone-expect': 'off',
      'jest/no-conditional-expect': 'off',
      // Assertions on a test double's method refer to it unbound.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  prettier,
);
