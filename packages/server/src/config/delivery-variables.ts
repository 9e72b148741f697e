/** Reads the variables for sending notifications, and the operator's name. @module */
import { isIP } from 'node:net'
import { dispatcherDefaults } from '@payment-integration/core'
import { problemOfRange } from '../internal/address-ranges.js'
import type { DeliveryConfig } from './config.js'
import { show, type Variables } from './variables.js'

const maxConcurrency = 10_000
const dnsPort = 53
/** Most name servers. Each is tried only after those before it time out, and the budget of a POST is 5 s. */
const maxServers = 8

/** Reads `PI_DELIVERY_CONCURRENCY`, `PI_DELIVERY_PER_ENDPOINT`, `PI_DELIVERY_DENY` and `PI_DNS_SERVERS`. */
export function readDelivery(variables: Variables): DeliveryConfig {
  const range = { min: 1, max: maxConcurrency, unit: 'a number of posts' }
  const concurrency = variables.integer('PI_DELIVERY_CONCURRENCY', range, dispatcherDefaults.concurrency)
  const quarter = Math.max(1, Math.floor(concurrency / 4))
  const perEndpoint = variables.integer(
    'PI_DELIVERY_PER_ENDPOINT',
    range,
    // One endpoint that hangs must not take every slot.
    Math.min(dispatcherDefaults.perEndpoint, quarter),
  )
  if (perEndpoint > concurrency)
    variables.problems.push(
      `PI_DELIVERY_PER_ENDPOINT is ${perEndpoint}, above the ${concurrency} posts of PI_DELIVERY_CONCURRENCY; lower one or raise the other.`,
    )
  return { concurrency, perEndpoint, denied: readDenied(variables), dnsServers: readDnsServers(variables) }
}

/** Reads `PI_ACTOR`. */
export function readActor({ text, problems }: Variables): string | null {
  const actor = text('PI_ACTOR')
  if (actor === undefined) return null
  if (!/^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]{0,98}[^\p{C}\p{Z}])?$/u.test(actor))
    problems.push(`PI_ACTOR is ${show(actor)}; expected a name of 1 to 100 characters, without spaces around it.`)
  return actor
}

function readDenied({ text, problems }: Variables): readonly string[] {
  const value = text('PI_DELIVERY_DENY')
  if (value === undefined) return []
  const ranges = value.split(',').map((each) => each.trim())
  for (const range of ranges) {
    const problem = problemOfRange(range)
    if (problem !== null)
      problems.push(
        `PI_DELIVERY_DENY has ${show(range)}, which ${problem}; expected addresses and ranges such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32.`,
      )
  }
  return ranges
}

function readDnsServers({ text, problems }: Variables): readonly string[] {
  const value = text('PI_DNS_SERVERS')
  if (value === undefined) return []
  const given = value.split(',').map((each) => each.trim())
  const servers = given.map(serverOf)
  const wrong = given.filter((_, index) => servers[index] === null)
  for (const each of wrong)
    problems.push(
      `PI_DNS_SERVERS has ${show(each)}; expected IP addresses with or without a port, such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:53.`,
    )
  if (given.length > maxServers)
    problems.push(`PI_DNS_SERVERS names ${given.length} servers; expected at most ${maxServers}.`)
  return servers.filter((server) => server !== null)
}

/** `<address>:<port>`, IPv6 in brackets, or null. */
function serverOf(text: string): string | null {
  const [, v6, v4, port = String(dnsPort)] = /^(?:\[([^[\]]+)\]|([0-9.]+))(?::([1-9][0-9]{0,4}))?$/.exec(text) ?? []
  if (isIP(text) === 6 && !text.includes('%')) return `[${text}]:${dnsPort}`
  if (Number(port) > 65_535) return null
  if (v6 !== undefined) return isIP(v6) === 6 && !v6.includes('%') ? `[${v6}]:${port}` : null
  return v4 !== undefined && isIP(v4) === 4 ? `${v4}:${port}` : null
}
