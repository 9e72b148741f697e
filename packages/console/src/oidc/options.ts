/** The OpenID provider at which operators sign in. Source: docs/decisions/operators.md. @module */

/** How the console signs operators in at an OpenID provider. It is a confidential client with the code flow. */
export interface OidcOptions {
  /** The provider's issuer identifier, such as `https://id.example/realms/shop`. */
  readonly issuer: string
  readonly clientId: string
  /** Never logged or shown. */
  readonly clientSecret: string
  /** The claim of the ID token that is the operator's name. The provider must have verified an `email`. */
  readonly nameClaim: string
  /** @default the runtime's */
  readonly fetch?: typeof fetch | undefined
}
