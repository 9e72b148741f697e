/** The shapes of the Redis clients, so that none of them is a dependency. @module */

/** A client of ioredis. */
export interface IoRedisClient {
  call(command: string, ...values: string[]): Promise<unknown>
  /** The prefix that the client itself puts before each key. */
  readonly options?: { readonly keyPrefix?: string | undefined }
  /** The nodes of a cluster. */
  nodes?(role: 'master'): IoRedisClient[]
}

/** A client of node-redis, version 4 to 6, that you connected. */
export interface NodeRedisClient {
  sendCommand(words: string[]): Promise<unknown>
}

/** A client that the store knows, by its shape. */
export type RedisClient = IoRedisClient | NodeRedisClient

/** Sends a command, whatever the client. @throws {TypeError} When it has the shape of none. */
export function commandsOf(client: RedisClient): (words: readonly string[]) => Promise<unknown> {
  if ('call' in client && typeof client.call === 'function')
    return ([command = '', ...values]) => client.call(command, ...values)
  if ('sendCommand' in client && typeof client.sendCommand === 'function')
    return (words) => client.sendCommand([...words])
  throw new TypeError('redis is no client of ioredis or node-redis; pass one.')
}

/**
 * The servers that hold keys: the client's own, or each master of its cluster.
 * @throws {Error} When the cluster has no master. @throws What the client throws while it connects.
 */
export async function mastersOf(client: RedisClient): Promise<readonly RedisClient[]> {
  const { nodes } = client as Partial<IoRedisClient>
  if (nodes === undefined) return [client]
  // A cluster client knows its nodes only after one of them sent the slots. Any command waits for the slots.
  await commandsOf(client)(['PING'])
  const masters = nodes.call(client, 'master')
  if (masters.length === 0) throw new Error('The cluster of redis has no master that could be listed.')
  return masters
}
