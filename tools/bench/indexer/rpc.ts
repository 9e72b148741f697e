/** Sends calls to a node in one request. @module */

/** A call. */
export type RpcCall = readonly [method: string, params: readonly unknown[]]

/** Resolves the results in order. @throws Error When the node refuses one. */
export function rpcOf(url: string): (calls: readonly RpcCall[]) => Promise<unknown[]> {
  return async (calls) => {
    const body = JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params })))
    const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    const results = (await answer.json()) as { id: number; result?: unknown; error?: { message: string } }[]
    return results
      .sort((a, b) => a.id - b.id)
      .map(({ result, error }) => {
        if (error !== undefined) throw new Error(`The node refused: ${error.message}`)
        return result
      })
  }
}
