/** Who may import whom, and that no file needs itself to load. */
import { isBuiltin } from 'node:module';
import path from 'node:path';
import ts from 'typescript';
import { layerOf, nodesIn, violationAt, type Layer, type Sources, type Violation } from './program.ts';

export interface Import {
  readonly file: string;
  /** A path from the root for a file of the project, else the name of the package or of Node's module. */
  readonly target: string;
  /** Gone when the program runs. */
  readonly typeOnly: boolean;
  readonly node: ts.Node;
}

/** Each layer with the layers that it may import besides itself. */
const LAYERS_BELOW: Readonly<Record<Layer, readonly Layer[]>> = {
  machines: [],
  storage: [],
  services: ['machines', 'storage'],
  'http/inspector': ['machines'],
  http: ['machines', 'services'],
  client: [],
  cli: ['machines', 'storage', 'services', 'http', 'client'],
  bench: ['machines', 'storage', 'services', 'http', 'client'],
};

/** The packages of layers that are kept clean of most. A layer without an entry may import what the project depends on. */
const PACKAGES_OF: Readonly<Partial<Record<Layer, readonly string[]>>> = {
  machines: ['xstate'],
  storage: ['fs-native-extensions'],
  // Whoever imports the package gets these with it, into a browser too.
  client: ['eventsource-parser'],
};

/** The layers that run where there is no Node. */
const LAYERS_WITHOUT_NODE: readonly Layer[] = ['machines', 'client'];

export function importsOf(sources: Sources): readonly Import[] {
  return [...sources.files].flatMap(([file, source]) =>
    [...nodesIn(source)].flatMap((node) => {
      const found = specifierOf(node);
      if (found === null) return [];
      const target = found.text.startsWith('.') ? path.posix.join(path.posix.dirname(file), found.text) : found.text;
      return [{ file, target, typeOnly: found.typeOnly, node }];
    }),
  );
}

export function forbiddenImports(sources: Sources): readonly Violation[] {
  return importsOf(sources).flatMap((found) => {
    const rule = ruleBrokenBy(found);
    return rule === null ? [] : [violationAt(found.file, found.node, rule)];
  });
}

/** The rings of files each of which needs the next to be there when it loads. Imports of types make none. */
export function importCycles(sources: Sources): readonly string[] {
  const needs = new Map<string, string[]>();
  for (const { file, target, typeOnly } of importsOf(sources)) {
    if (!typeOnly && layerOf(target) !== null) needs.set(file, [...(needs.get(file) ?? []), target]);
  }
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) {
      cycles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '));
      return;
    }
    if (done.has(file)) return;
    for (const target of needs.get(file) ?? []) visit(target, [...trail, file]);
    done.add(file);
  };
  for (const file of needs.keys()) visit(file, []);
  return cycles;
}

function ruleBrokenBy({ file, target, typeOnly }: Import): string | null {
  const from = layerOf(file);
  if (from === null) return null;
  const to = layerOf(target);
  if (to !== null) {
    if (from === to || LAYERS_BELOW[from].includes(to)) return null;
    if (from === 'client' && typeOnly && target.startsWith('http/wire/')) return null;
    return `${from} imports ${to}`;
  }
  if (target.startsWith('..') || target.startsWith('test/')) return `${from} imports ${target}`;
  if (isBuiltin(target)) {
    if (!target.startsWith('node:')) return `${target} instead of node:${target}`;
    return LAYERS_WITHOUT_NODE.includes(from) ? `${from} imports ${target}` : null;
  }
  const allowed = PACKAGES_OF[from];
  return allowed === undefined || allowed.includes(packageOf(target)) ? null : `${from} imports ${target}`;
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function specifierOf(node: ts.Node): { readonly text: string; readonly typeOnly: boolean } | null {
  if (ts.isImportDeclaration(node)) return literal(node.moduleSpecifier, isTypeOnly(node.importClause));
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) return literal(node.moduleSpecifier, node.isTypeOnly);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return literal(node.argument.literal, true);
  if (ts.isExternalModuleReference(node)) return literal(node.expression, false);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) return literal(node.arguments[0], false);
  return null;
}

function literal(node: ts.Node | undefined, typeOnly: boolean): { readonly text: string; readonly typeOnly: boolean } | null {
  return node !== undefined && ts.isStringLiteralLike(node) ? { text: node.text, typeOnly } : null;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { name, namedBindings } = clause;
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly);
}
