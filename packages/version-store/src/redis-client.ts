/** The shapes of the Redis clients, so that none of them is a dependency. @module */

/** A client of ioredis. */
export interface IoRedisClient {
  call(command: string, ...values: string[]): Promise<unknown>
  /** What the client itself puts before each key. */
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
