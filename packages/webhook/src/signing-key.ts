/** A prepared secret, by its type. @module */

declare const brand: unique symbol
/** A signing secret made ready for many deliveries, by `signingKey`; what it is depends on the runtime. */
export interface SigningKey {
  readonly [brand]: never
}
