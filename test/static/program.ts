/**
 * The project's own sources as the compiler sees them: one program with a type checker, so that a rule asks what a name
 * *is* instead of how it is spelt. Samples are programs too, made of texts that are on no disk.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

export const PROJECT_ROOT = path.resolve(import.meta.dirname, '../..');

/** The layers, which are folders of the sources: the first that a file is in is its own. */
export const LAYERS = ['machines', 'storage', 'services', 'http/inspector', 'http', 'client', 'cli', 'bench'] as const;
export type Layer = (typeof LAYERS)[number];

export interface Sources {
  readonly checker: ts.TypeChecker;
  /** The project's files by their path from the root, with slashes. */
  readonly files: ReadonlyMap<string, ts.SourceFile>;
}

/** A rule broken at a place. `rule` names what is wrong in few words, so that it can be allowed for a file. */
export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
}

export function projectSources(): Sources {
  const files = LAYERS.flatMap((layer) => typescriptFilesIn(layer));
  return sourcesOf(files, ts.createCompilerHost(compilerOptions()));
}

/** Samples by path: they are looked up before the disk, which still has the libraries' types. */
export function sampleSources(samples: Readonly<Record<string, string>>): Sources {
  const host = ts.createCompilerHost(compilerOptions());
  const sampleOf = (fileName: string): string | undefined => samples[relative(fileName)];
  return sourcesOf(Object.keys(samples), {
    ...host,
    fileExists: (fileName) => sampleOf(fileName) !== undefined || host.fileExists(fileName),
    readFile: (fileName) => sampleOf(fileName) ?? host.readFile(fileName),
    getSourceFile: (fileName, languageVersion, ...rest) => {
      const sample = sampleOf(fileName);
      if (sample === undefined) return host.getSourceFile(fileName, languageVersion, ...rest);
      return ts.createSourceFile(fileName, sample, languageVersion, true);
    },
  });
}

export function violationAt(file: string, node: ts.Node, rule: string): Violation {
  const { line } = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart());
  return { file, line: line + 1, rule };
}

/** As a failed test prints them. */
export function printed(violations: readonly Violation[]): readonly string[] {
  return violations.map(({ file, line, rule }) => `${file}:${line} ${rule}`);
}

export function layerOf(file: string): Layer | null {
  return LAYERS.find((layer) => file.startsWith(`${layer}/`)) ?? null;
}

/** Every node below one, in the order of the text. */
export function* nodesIn(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    children.push(child);
  });
  for (const child of children) yield* nodesIn(child);
}

function sourcesOf(files: readonly string[], host: ts.CompilerHost): Sources {
  const rootNames = files.map((file) => path.join(PROJECT_ROOT, file));
  const program = ts.createProgram({ rootNames, options: compilerOptions(), host });
  const checker = program.getTypeChecker();
  const own = program.getSourceFiles().filter((file) => layerOf(relative(file.fileName)) !== null);
  return { checker, files: new Map(own.map((file) => [relative(file.fileName), file])) };
}

function relative(fileName: string): string {
  return path.relative(PROJECT_ROOT, fileName).split(path.sep).join('/');
}

function typescriptFilesIn(layer: string): readonly string[] {
  try {
    return readdirSync(path.join(PROJECT_ROOT, layer), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${layer}/${name.split(path.sep).join('/')}`)
      .filter((file) => layerOf(file) === layer);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function compilerOptions(): ts.CompilerOptions {
  const read = ts.readConfigFile(path.join(PROJECT_ROOT, 'tsconfig.json'), (file) => ts.sys.readFile(file));
  if (read.error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(read.error.messageText, '\n'));
  return ts.parseJsonConfigFileContent(read.config, ts.sys, PROJECT_ROOT).options;
}
