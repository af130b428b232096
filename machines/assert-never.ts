/** Marks the place that no value reaches: a new member of a union fails to compile here until somebody decides. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
