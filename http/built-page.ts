/** The built inspector, given from the outside: this layer reads no files. */
export interface BuiltPage {
  /** Every file's bytes by its name below the page: `index.html`, `assets/…`. Null where the page is not built. */
  files(): Promise<ReadonlyMap<string, Uint8Array> | null>;
}
