/**
 * The same function, whose answer is made once for each object and is the same for everybody who asks: what many followers
 * are shown is projected and encoded once. An answer goes with its object.
 */
export function onceEach<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const made = new WeakMap<K, { readonly answer: V }>();
  return (of) => {
    const known = made.get(of);
    if (known !== undefined) return known.answer;
    const answer = make(of);
    made.set(of, { answer });
    return answer;
  };
}
