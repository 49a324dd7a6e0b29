import luaparse from 'luaparse';
import { type Mutation, otherNumber } from './mutation.js';

/** A node of luaparse with `ranges`. */
interface Node {
  readonly type: string;
  readonly range: readonly [start: number, end: number];
}

/** Any of its fields that are read here. */
interface AnyNode extends Node {
  readonly operator?: string;
  readonly left?: AnyNode;
  readonly right?: AnyNode;
  readonly condition?: AnyNode;
  readonly argument?: AnyNode;
  readonly body?: readonly AnyNode[];
  readonly clauses?: readonly AnyNode[];
  readonly arguments?: readonly AnyNode[] | AnyNode;
  /** The called function. */
  readonly base?: AnyNode;
  readonly value?: unknown;
}

const OPERATORS: Readonly<Record<string, readonly [kind: string, other: string]>> = {
  '<': ['boundary-moved', '<='],
  '<=': ['boundary-moved', '<'],
  '>': ['boundary-moved', '>='],
  '>=': ['boundary-moved', '>'],
  '==': ['equality-negated', '~='],
  '~=': ['equality-negated', '=='],
  and: ['and-or', 'or'],
  or: ['and-or', 'and'],
  '+': ['arithmetic', '-'],
  '-': ['arithmetic', '+'],
  '*': ['arithmetic', '/'],
  '/': ['arithmetic', '*'],
};

/** Functions whose arguments may have any order. */
const ORDERLESS: readonly string[] = ['min', 'max', 'Scores.lower'];

/** Lists every mutation of a Lua file. All of them compile. */
export function mutationsOfLua(text: string): Mutation[] {
  const mutations: Mutation[] = [];
  const add = (kind: string, range: readonly [number, number], replacement: string) =>
    void mutations.push({ kind, start: range[0], end: range[1], replacement });
  const textOf = ({ range: [start, end] }: Node) => text.slice(start, end);

  const visit = (node: AnyNode): void => {
    const { operator, left, right } = node;
    if (operator !== undefined && left && right) {
      const other = OPERATORS[operator];
      const between = text.slice(left.range[1], right.range[0]);
      const start = left.range[1] + between.indexOf(operator);
      if (other) add(other[0], [start, start + operator.length], other[1]);
    }
    if (/^(If|Elseif|While)(Clause|Statement)$/.test(node.type) && node.condition) {
      const { condition } = node;
      const isNot = condition.type === 'UnaryExpression' && condition.operator === 'not';
      add('condition-negated', condition.range, isNot ? textOf(condition.argument!) : `not (${textOf(condition)})`);
    }
    if (node.type === 'UnaryExpression' && node.operator === 'not') {
      add('negation-removed', node.range, `(${textOf(node.argument!)})`);
    }
    if (node.type === 'IfStatement' && node.clauses?.length === 1 && leaves(node.clauses[0]!)) {
      add('exit-removed', node.range, '');
    }
    if (node.type === 'NumericLiteral') add('constant-changed', node.range, otherNumber(node.value as number));
    if (node.type === 'BooleanLiteral') add('constant-changed', node.range, String(!node.value));
    if (node.type === 'CallStatement' || node.type === 'AssignmentStatement') add('statement-removed', node.range, '');
    if (node.type === 'CallExpression' && Array.isArray(node.arguments) && !ORDERLESS.includes(textOf(node.base!)))
      swapArguments(node.arguments as AnyNode[]);
    for (const child of childrenOf(node)) visit(child);
  };

  const swapArguments = (given: readonly AnyNode[]): void => {
    for (const [i, first] of given.slice(0, -1).entries()) {
      const second = given[i + 1]!;
      // A name of a command first: Redis refuses anything else, which no test need show.
      if (first.type === 'StringLiteral' || textOf(first) === textOf(second)) continue;
      const between = text.slice(first.range[1], second.range[0]);
      add('arguments-swapped', [first.range[0], second.range[1]], textOf(second) + between + textOf(first));
    }
  };

  visit(luaparse.parse(text, { ranges: true, luaVersion: '5.1' }) as unknown as AnyNode);
  // A condition that is a negation is listed once.
  return mutations.filter(
    ({ kind, start }) =>
      kind !== 'negation-removed' ||
      !mutations.some((other) => other.kind === 'condition-negated' && other.start === start),
  );
}

function leaves({ body = [] }: AnyNode): boolean {
  return body.at(-1)?.type === 'ReturnStatement' || body.at(-1)?.type === 'BreakStatement';
}

function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node)
    .flat()
    .filter((value): value is AnyNode => typeof value === 'object' && value !== null && 'type' in value);
}
