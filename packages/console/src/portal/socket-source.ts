/** Names the network address of a connection, for the limits of failed sign-ins. @module */
import { isIPv6 } from 'node:net'
import type { ConsoleBindings } from '../web/access.js'

/** The peer of the connection; of IPv6 the first 64 bits. Requests without a socket count as one source. */
export function socketSource(_request: Request, { incoming }: ConsoleBindings): string {
  const [address = ''] = (incoming?.socket.remoteAddress ?? 'unknown').split('%', 1)
  const mapped = /^::ffff:(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  return isIPv6(address) ? networkOf(address) : address
}

/** The first four groups, with the zeros that `::` stands for. */
function networkOf(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const left = head.split(':').filter((group) => group !== '')
  const right = (tail ?? '').split(':').filter((group) => group !== '')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...right]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
