/** Whether two values say the same as JSON: the order of keys does not count. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  const same = (key: string): boolean => Object.hasOwn(other, key) && sameJson((one as Values)[key], (other as Values)[key]);
  return keys.length === Object.keys(other).length && keys.every(same);
}

type Values = Readonly<Record<string, unknown>>;
