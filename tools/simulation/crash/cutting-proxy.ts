/**
 * A proxy in front of PostgreSQL that cuts connections: all of them, or the one that has just sent its COMMIT.
 * @module
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface CuttingProxy {
  /** The database's address through the proxy. */
  readonly connectionString: string
  /** Breaks every connection. Returns their number. */
  cut(): number
  /** Breaks the connection that sends the next COMMIT: the server receives it, but its answer is lost. */
  cutAfterCommit(): void
  /** Connections that were broken after their COMMIT. */
  readonly cutCommits: number
  close(): Promise<void>
}

/** Name of the socket in the folder that a connection string names as its host. */
const socketName = '.s.PGSQL.5432'
/** The protocol message of the driver's commit, after its length. */
const commitMessage = 'commit\0'

/** Opens a proxy to a server that listens on a Unix socket. */
export async function openCuttingProxy(connectionString: string): Promise<CuttingProxy> {
  const target = join(new URL(connectionString).searchParams.get('host') ?? '', socketName)
  const folder = await mkdtemp(join(tmpdir(), 'pi-proxy-'))
  const openSockets = new Set<Socket>()
  let isArmed = false
  let cutCommits = 0
  const server = createServer((client) => {
    const upstream = connect(target)
    openSockets.add(client)
    const destroyBoth = () => {
      openSockets.delete(client)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.on('error', destroyBoth).on('close', destroyBoth)
    upstream.on('data', (chunk: Buffer) => client.write(chunk))
    client.on('data', (chunk: Buffer) => {
      const isCut = isArmed && chunk.includes(commitMessage)
      if (!isCut) {
        upstream.write(chunk)
        return
      }
      isArmed = false
      cutCommits += 1
      client.off('close', destroyBoth)
      openSockets.delete(client)
      client.destroy()
      // Written bytes reach the server before the close.
      upstream.end(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(join(folder, socketName), resolve))
  const address = new URL(connectionString)
  address.searchParams.set('host', folder)
  const cut = () => {
    const broken = [...openSockets]
    for (const client of broken) client.destroy()
    return broken.length
  }
  return {
    connectionString: address.href,
    cut,
    cutAfterCommit() {
      isArmed = true
    },
    get cutCommits() {
      return cutCommits
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      cut()
      await closed
      await rm(folder, { recursive: true, force: true })
    },
  }
}
