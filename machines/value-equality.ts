/** Whether two plain values say the same: the order of an object's keys does not count, everything else does. */
export function sameValue(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => sameValue(item, right[index]));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameValue(itemOf(left, key), itemOf(right, key)));
}

function itemOf(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key];
}

/** Freezes a plain value through and through, so that nobody who is shown it can change what was recorded. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  // Without a list of an array's items: this is done to whatever a session holds when it is opened.
  if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) deepFreeze(value[index]);
  else for (const key of Object.keys(value)) deepFreeze(itemOf(value, key));
  return value;
}
