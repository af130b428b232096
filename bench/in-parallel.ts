/** Acts on every item, on a few at a time; each answer stands where its item does. */
export async function inParallel<T, R>(items: readonly T[], width: number, act: (item: T, index: number) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  const left = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) answers[index] = await act(item, index);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return answers;
}
