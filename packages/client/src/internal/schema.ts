/** The part of a schema that reading needs. @module */
export interface Schema<T> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: T }
    | {
        readonly success: false
        readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[] }[] }
      }
}
