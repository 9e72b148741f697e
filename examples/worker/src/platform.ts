/** The types of the Workers platform that this example uses; `@cloudflare/workers-types` has all. @module */

/** Storage of a Durable Object, in a transaction or out of it. */
export interface ObjectTransaction {
  get<T>(key: string): Promise<T | undefined>
  put<T>(key: string, value: T): Promise<void>
}

/** Storage of a Durable Object. */
export interface ObjectStorage extends ObjectTransaction {
  transaction<T>(work: (transaction: ObjectTransaction) => Promise<T>): Promise<T>
}

/** The argument of a Durable Object's constructor. */
export interface ObjectState {
  readonly storage: ObjectStorage
}

/** The binding of a class of Durable Objects. */
export interface ObjectNamespace {
  idFromName(name: string): unknown
  get(id: unknown): { fetch(url: string, init?: RequestInit): Promise<Response> }
}

/** The bindings of this Worker. */
export interface Env {
  readonly PAYMENTS: ObjectNamespace
  readonly WEBHOOK_SIGNING_SECRET: string
  /** The token that the shop's back end sends as `Authorization: Bearer`. */
  readonly SHOP_TOKEN: string
}
