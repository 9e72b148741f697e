/** The parts of JSON-RPC that the fake nodes use. @module */

export interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

export type Outcome = { readonly result: unknown } | { readonly error: RpcError }

/** An error in a node's format. */
export interface RpcError {
  readonly code: number
  readonly message: string
}

export type Answer = (call: Call) => Outcome | Promise<Outcome>

/** The reply to a client: bytes with a status, silence, or a broken connection. */
export type Reply =
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' }

/** An item of a request with the id that its answer carries. */
export interface Item extends Call {
  readonly id: unknown
}

/** A request's items; `isBatch` decides the form of the answer. */
export function parseRequest(body: string): { readonly items: readonly Item[]; readonly isBatch: boolean } {
  const parsed = JSON.parse(body) as Item | Item[]
  return { items: Array.isArray(parsed) ? parsed : [parsed], isBatch: Array.isArray(parsed) }
}

/** An answer with status 200. */
export function buildJsonReply(value: unknown): Reply {
  return { kind: 'answer', status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}
