/** Where the server is asked. @module */
import { InvalidArgumentError } from 'commander'
import { UsageError } from '../errors.js'
import type { Io } from '../io.js'

const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * Reads the base address of a server from an argument, without a slash at the end.
 * @throws InvalidArgumentError With what is expected.
 */
export function parseServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === ''
  // Other users of a machine can see arguments.
  if (!isAddress || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('Expected http://… or https://…, without user, query and fragment.')
  return url.href.replace(/\/{1,64}$/, '')
}

/**
 * The address where a server with this environment listens, seen from this machine.
 * @throws UsageError `ERR_USAGE` when the environment leaves it open.
 */
export function configuredServerUrl(env: Io['env']): string {
  const host = env['PI_HOST'] || '127.0.0.1'
  const port = env['PI_PORT'] || '4747'
  const name = everywhere[host] ?? host
  const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}`
  if (port === '0' || !URL.canParse(url))
    throw new UsageError('PI_HOST and PI_PORT do not say where the server listens; name it with --url.')
  return url
}
