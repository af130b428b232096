/** The one call that is used of a package that comes without types. */
declare module 'fs-native-extensions' {
  /** Takes an exclusive lock on the whole of an open file, which goes with its descriptor; false where another has it. */
  export function tryLock(descriptor: number): boolean;
}
