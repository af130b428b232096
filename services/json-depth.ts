/** How deep JSON text nests, counted on the text before anything is built of it: a hostile depth costs one pass. */

/** Counts brackets outside of strings. On text that is no JSON the answer means nothing, and the parse refuses it. */
export function isDeeperThan(text: string, depthMax: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isInString) {
      if (character === '\\') index += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') {
      isInString = true;
    } else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (character === '}' || character === ']') {
      depth -= 1;
    }
  }
  return false;
}
