/** Who calls the methods on which the order of commit, evolve and react hangs. */
import ts from 'typescript';
import { nodesIn, type Sources } from './program.ts';

/** The files that call a method of a class or an interface of the project, `Name.method`, ascending. */
export function callersOf({ checker, files }: Sources, methods: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const callers = new Map(methods.map((method) => [method, new Set<string>()]));
  // Asking for a symbol is what costs: the spelling rules most names out.
  const spellings = new Set(methods.map((method) => method.split('.')[1]));
  for (const [file, source] of files) {
    for (const node of nodesIn(source)) {
      // Not the calls alone: a method that is handed on could be called by anybody.
      const name = ts.isPropertyAccessExpression(node) ? node.name : ts.isBindingElement(node) ? (node.propertyName ?? node.name) : null;
      if (name === null || !spellings.has(name.getText())) continue;
      for (const method of methodsAt(checker, node, name)) callers.get(method)?.add(file);
    }
  }
  return Object.fromEntries([...callers].map(([method, found]) => [method, [...found].sort()]));
}

/** The methods that a name may stand for, of a union's every member. */
function methodsAt(checker: ts.TypeChecker, node: ts.Node, name: ts.Node): readonly string[] {
  const symbol = ts.isBindingElement(node)
    ? checker.getTypeAtLocation(node.parent).getProperty(name.getText())
    : checker.getSymbolAtLocation(name);
  return (symbol?.declarations ?? []).flatMap((declaration) => {
    const { parent } = declaration;
    const isOwner = ts.isInterfaceDeclaration(parent) || ts.isClassDeclaration(parent);
    return isOwner && parent.name !== undefined ? [`${parent.name.text}.${name.getText()}`] : [];
  });
}
