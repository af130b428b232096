/**
 * The names through which a program reaches the world, or changes its mind, behind everybody's back. The compiler says
 * what a name stands for: a field called `process` is none of these, and `globalThis.Date` is.
 */
import path from 'node:path';
import ts from 'typescript';
import { layerOf, nodesIn, violationAt, type Sources, type Violation } from './program.ts';

/** Names that the language's libraries and Node declare, wherever they are reached from. */
const BANNED_GLOBALS: ReadonlySet<string> = new Set([
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'console',
  'process',
  'fetch',
  'WebSocket',
  'EventSource',
  'globalThis',
]);

/** Members of objects that are otherwise welcome, as `object.member`. Each is banned as an import by its name too. */
const BANNED_MEMBERS: Readonly<Record<string, string>> = {
  random: 'Math.random',
  timeout: 'AbortSignal.timeout',
  randomBytes: 'crypto.randomBytes',
  randomInt: 'crypto.randomInt',
  randomFillSync: 'crypto.randomFillSync',
  randomFill: 'crypto.randomFill',
  randomUUID: 'crypto.randomUUID',
  getRandomValues: 'crypto.getRandomValues',
  hrtime: 'process.hrtime',
};

/** Node's modules that are ports themselves: files, sockets, processes, timers. Types of theirs may be named. */
const BANNED_MODULES: ReadonlySet<string> = new Set([
  'child_process',
  'cluster',
  'dgram',
  'dns',
  'dns/promises',
  'fs',
  'fs/promises',
  'http',
  'http2',
  'https',
  'net',
  'os',
  'perf_hooks',
  'process',
  'timers',
  'timers/promises',
  'tls',
  'worker_threads',
]);

const BANNED_PACKAGES: ReadonlySet<string> = new Set(['undici', 'fs-native-extensions']);

/** Types whose values can be changed in place, by the name that the compiler has for them. */
const MUTABLE_TYPES: ReadonlySet<string> = new Set([
  'Array',
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'Buffer',
  'ArrayBuffer',
  'Uint8Array',
  'Int32Array',
  'Uint32Array',
  'Float64Array',
  'DataView',
]);

export function bannedNames(sources: Sources): readonly Violation[] {
  return [...sources.files].flatMap(([file, source]) => {
    const asynchronous = layerOf(file) === 'machines';
    return [...nodesIn(source)].flatMap((node) => {
      const rule =
        nameRule(node, sources.checker) ??
        moduleRule(node) ??
        stateRule(node, sources.checker) ??
        (asynchronous ? asynchronyRule(node, sources.checker) : null);
      return rule === null ? [] : [violationAt(file, node, rule)];
    });
  });
}

function nameRule(node: ts.Node, checker: ts.TypeChecker): string | null {
  if (!ts.isIdentifier(node) || isDeclarationName(node)) return null;
  const member = Object.hasOwn(BANNED_MEMBERS, node.text) ? BANNED_MEMBERS[node.text] : undefined;
  if (member === undefined && !BANNED_GLOBALS.has(node.text)) return null;
  const symbol = symbolOf(node, checker);
  if (symbol === undefined) return null;
  if (node.text === 'globalThis') return 'globalThis';
  if (!isDeclaredByLibraries(symbol, checker)) return null;
  return member ?? (isMember(node) && !isMemberOfGlobalThis(node) ? null : node.text);
}

/** What a name stands for; in `const { random } = Math`, the member that is taken out and not the new constant. */
function symbolOf(node: ts.Identifier, checker: ts.TypeChecker): ts.Symbol | undefined {
  const { parent } = node;
  if (ts.isBindingElement(parent) && (parent.propertyName ?? parent.name) === node) {
    return checker.getTypeAtLocation(parent.parent).getProperty(node.text);
  }
  return checker.getSymbolAtLocation(node);
}

/** `import { setTimeout as wait }`: the name that is imported counts, the new one is only a name. */
function isDeclarationName(node: ts.Identifier): boolean {
  const { parent } = node;
  return (
    (ts.isImportSpecifier(parent) && parent.propertyName !== undefined && parent.name === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node) ||
    (ts.isPropertySignature(parent) && parent.name === node)
  );
}

function isMember(node: ts.Identifier): boolean {
  return ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
}

function isMemberOfGlobalThis(node: ts.Identifier): boolean {
  const { parent } = node;
  return ts.isPropertyAccessExpression(parent) && ts.isIdentifier(parent.expression) && parent.expression.text === 'globalThis';
}

function isDeclaredByLibraries(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const declarations = target.declarations ?? [];
  return declarations.length > 0 && declarations.every((declaration) => isOfLibraries(declaration.getSourceFile()));
}

function isOfLibraries(file: ts.SourceFile): boolean {
  return /\/node_modules\/(typescript\/lib|@types\/node|undici-types)\//.test(file.fileName.split(path.sep).join('/'));
}

function moduleRule(node: ts.Node): string | null {
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return 'dynamic import';
  if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) return null;
  if (importsOnlyTypes(node.importClause)) return null;
  const name = node.moduleSpecifier.text;
  if (BANNED_MODULES.has(name.replace(/^node:/, ''))) return name;
  return BANNED_PACKAGES.has(name) ? name : null;
}

function importsOnlyTypes(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = clause;
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.every((element) => element.isTypeOnly);
}

/** What outlives the call that made it: it survives from one session, test or simulated death to the next. */
function stateRule(node: ts.Node, checker: ts.TypeChecker): string | null {
  if (ts.isVariableDeclarationList(node) && isOfModule(node)) {
    if (!(node.flags & ts.NodeFlags.Const)) return 'module-level variable';
    const mutable = node.declarations.find((declaration) => isMutable(declaration, checker));
    return mutable === undefined ? null : 'module-level mutable collection';
  }
  if (ts.isPropertyDeclaration(node) && hasModifier(node, ts.SyntaxKind.StaticKeyword)) {
    return hasModifier(node, ts.SyntaxKind.ReadonlyKeyword) ? null : 'static field that changes';
  }
  const changed = changedObject(node);
  if (changed === null) return null;
  const declaration = checker.getSymbolAtLocation(changed)?.valueDeclaration;
  if (declaration === undefined || !ts.isVariableDeclaration(declaration) || declaration.getSourceFile().isDeclarationFile) return null;
  return isOfModule(declaration.parent) ? 'module-level object that changes' : null;
}

function isOfModule(list: ts.Node): boolean {
  return ts.isVariableStatement(list.parent) && ts.isSourceFile(list.parent.parent);
}

function isMutable(declaration: ts.VariableDeclaration, checker: ts.TypeChecker): boolean {
  const name = checker.getTypeAtLocation(declaration.name).getSymbol()?.getName();
  return name !== undefined && MUTABLE_TYPES.has(name);
}

function hasModifier(node: ts.PropertyDeclaration, kind: ts.ModifierSyntaxKind): boolean {
  return node.modifiers?.some((modifier) => modifier.kind === kind) ?? false;
}

/** The name at the root of what an assignment, a `delete` or a step up or down changes: `a` of `a.b[c] = d`. */
function changedObject(node: ts.Node): ts.Identifier | null {
  if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) return rootOf(node.left);
  if (ts.isDeleteExpression(node)) return rootOf(node.expression);
  if (ts.isPostfixUnaryExpression(node)) return rootOf(node.operand);
  if (!ts.isPrefixUnaryExpression(node)) return null;
  const steps = node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken;
  return steps ? rootOf(node.operand) : null;
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

function rootOf(node: ts.Expression): ts.Identifier | null {
  let at = node;
  while (ts.isPropertyAccessExpression(at) || ts.isElementAccessExpression(at)) at = at.expression;
  return at !== node && ts.isIdentifier(at) ? at : null;
}

function asynchronyRule(node: ts.Node, checker: ts.TypeChecker): string | null {
  if (node.kind === ts.SyntaxKind.AsyncKeyword || ts.isAwaitExpression(node)) return 'async';
  if (!ts.isIdentifier(node) || node.text !== 'Promise') return null;
  const symbol = checker.getSymbolAtLocation(node);
  return symbol !== undefined && isDeclaredByLibraries(symbol, checker) ? 'async' : null;
}
