import ts from 'typescript';
import { type Mutation, otherNumber } from './mutation.js';

type Add = (kind: string, node: ts.Node, replacement: string) => void;

const OPERATORS: ReadonlyMap<ts.SyntaxKind, readonly [kind: string, other: string]> = new Map([
  [ts.SyntaxKind.LessThanToken, ['boundary-moved', '<=']],
  [ts.SyntaxKind.LessThanEqualsToken, ['boundary-moved', '<']],
  [ts.SyntaxKind.GreaterThanToken, ['boundary-moved', '>=']],
  [ts.SyntaxKind.GreaterThanEqualsToken, ['boundary-moved', '>']],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, ['equality-negated', '!==']],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, ['equality-negated', '===']],
  [ts.SyntaxKind.AmpersandAmpersandToken, ['and-or', '||']],
  [ts.SyntaxKind.BarBarToken, ['and-or', '&&']],
  [ts.SyntaxKind.QuestionQuestionEqualsToken, ['default-assigned', '=']],
  [ts.SyntaxKind.PlusToken, ['arithmetic', '-']],
  [ts.SyntaxKind.MinusToken, ['arithmetic', '+']],
  [ts.SyntaxKind.AsteriskToken, ['arithmetic', '/']],
  [ts.SyntaxKind.SlashToken, ['arithmetic', '*']],
  [ts.SyntaxKind.PlusEqualsToken, ['arithmetic', '-=']],
  [ts.SyntaxKind.MinusEqualsToken, ['arithmetic', '+=']],
]);

/** A function whose name says that it answers yes or no. */
const PREDICATE = /^#?(is|has|may|can|must|needs|was)[A-Z]/;

/** Functions whose arguments may have any order. */
const ORDERLESS: readonly string[] = ['Math.min', 'Math.max'];

/** Lists every mutation of a TypeScript file. Some of them do not compile. */
export function mutationsOfTypeScript(text: string): Mutation[] {
  const source = ts.createSourceFile('mutated.ts', text, ts.ScriptTarget.ES2022, true);
  const mutations: Mutation[] = [];
  const add: Add = (kind, node, replacement) => {
    mutations.push({ kind, start: node.getStart(source), end: node.getEnd(), replacement });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return;
    mutateStatement(node, add);
    mutateExpression(node, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutations;
}

function mutateStatement(node: ts.Node, add: Add): void {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) negate(node.expression, add);
  if (ts.isConditionalExpression(node)) negate(node.condition, add);
  if (ts.isForStatement(node) && node.condition) negate(node.condition, add);
  if (ts.isIfStatement(node) && !node.elseStatement && leaves(node.thenStatement)) add('exit-removed', node, ';');
  if (ts.isThrowStatement(node)) add('throw-removed', node, ';');
  if (!ts.isExpressionStatement(node) || isSuperCall(node.expression)) return;
  add('statement-removed', node, ';');
  if (ts.isAwaitExpression(node.expression)) {
    add('not-awaited', node.expression, `void (${node.expression.expression.getText()})`);
  }
}

function mutateExpression(node: ts.Node, add: Add): void {
  if (ts.isBinaryExpression(node)) {
    const operator = OPERATORS.get(node.operatorToken.kind);
    if (operator) add(operator[0], node.operatorToken, operator[1]);
    if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
      add('default-taken', node, `(${node.right.getText()})`);
    }
  }
  if (ts.isNumericLiteral(node)) add('constant-changed', node, otherNumber(Number(node.getText().replaceAll('_', ''))));
  if (node.kind === ts.SyntaxKind.TrueKeyword) add('constant-changed', node, 'false');
  if (node.kind === ts.SyntaxKind.FalseKeyword) add('constant-changed', node, 'true');
  if (ts.isPrefixUnaryExpression(node)) {
    const { operator, operand } = node;
    if (operator === ts.SyntaxKind.ExclamationToken && !isCondition(node))
      add('negation-removed', node, operand.getText());
    if (operator === ts.SyntaxKind.PlusPlusToken) add('arithmetic', node, `--${operand.getText()}`);
    if (operator === ts.SyntaxKind.MinusMinusToken) add('arithmetic', node, `++${operand.getText()}`);
  }
  if (ts.isPostfixUnaryExpression(node)) {
    const other = node.operator === ts.SyntaxKind.PlusPlusToken ? '--' : '++';
    add('arithmetic', node, `${node.operand.getText()}${other}`);
  }
  if (ts.isCallExpression(node)) mutateCall(node, add);
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) swapArguments(node, add);
  if (ts.isObjectLiteralExpression(node)) node.properties.forEach((property) => removeProperty(property, add));
}

function mutateCall(node: ts.CallExpression, add: Add): void {
  const { expression: callee } = node;
  const text = callee.getText();
  if (text === 'Math.min') add('min-max', callee, 'Math.max');
  if (text === 'Math.max') add('min-max', callee, 'Math.min');
  const name = ts.isPropertyAccessExpression(callee) ? callee.name.text : text;
  const isNegated = ts.isPrefixUnaryExpression(node.parent);
  if (PREDICATE.test(name) && !isNegated && !isCondition(node)) add('answer-negated', node, `!${node.getText()}`);
}

function swapArguments({ expression, arguments: all }: ts.CallExpression | ts.NewExpression, add: Add): void {
  const given: readonly ts.Expression[] = all ?? [];
  if (ORDERLESS.includes(expression.getText())) return;
  for (const [i, first] of given.slice(0, -1).entries()) {
    const second = given[i + 1]!;
    if (first.getText() === second.getText() || [first, second].some(ts.isSpreadElement)) continue;
    const text = first.getSourceFile().text;
    const between = text.slice(first.getEnd(), second.getStart());
    const both = { getStart: () => first.getStart(), getEnd: () => second.getEnd() } as ts.Node;
    add('arguments-swapped', both, second.getText() + between + first.getText());
  }
}

/** Without the comma behind it, `{ a, , b }` would not compile. */
function removeProperty(property: ts.ObjectLiteralElementLike, add: Add): void {
  const { text } = property.getSourceFile();
  const comma = /^\s*,/.exec(text.slice(property.getEnd()))?.[0].length ?? 0;
  const all = { getStart: () => property.getStart(), getEnd: () => property.getEnd() + comma } as ts.Node;
  add('property-removed', all, '');
}

function negate(condition: ts.Expression, add: Add): void {
  const isNot = ts.isPrefixUnaryExpression(condition) && condition.operator === ts.SyntaxKind.ExclamationToken;
  add('condition-negated', condition, isNot ? condition.operand.getText() : `!(${condition.getText()})`);
}

function isCondition(node: ts.Expression): boolean {
  const { parent } = node;
  if (ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent)) return true;
  return (ts.isConditionalExpression(parent) || ts.isForStatement(parent)) && parent.condition === node;
}

/** True if the statement, or the last one of the block, leaves the function or the loop. A `throw` has a mutation of its own. */
function leaves(statement: ts.Statement): boolean {
  const last = ts.isBlock(statement) ? statement.statements.at(-1) : statement;
  return last !== undefined && (ts.isReturnStatement(last) || ts.isBreakOrContinueStatement(last));
}

function isSuperCall(expression: ts.Expression): boolean {
  return ts.isCallExpression(expression) && expression.expression.kind === ts.SyntaxKind.SuperKeyword;
}
