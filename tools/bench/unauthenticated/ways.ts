/** Every kind of request without credentials, in its most expensive form. @module */
import { createHmac } from 'node:crypto'
import type { Load } from '../read-api/load.js'

/** A kind of request. */
export interface Way {
  readonly name: string
  readonly load: Load
  /** Sent to the server whose limits are reached. @default false */
  readonly isLimited?: boolean
}

/** Longest text that fits into the accepted headers, besides the others. */
const longest = 7_000
const list = '/api/v1/integration/payments'
const updates = '/api/v1/processor/updates'
const bundle = '/reference/swagger-ui-bundle.js'
const verdicts = '/api/v1/identity-provider/webhook'
const gzip = { 'accept-encoding': 'gzip' }
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
/** A well-formed, recent signature by a forger without the secret. */
const forged = () => `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}`
const bodyOf = (bytes: number) => Buffer.from('{}'.padEnd(bytes))

function post(path: string, bytes: number, headers: Readonly<Record<string, string>>, status: number): Load {
  const type = { 'content-type': 'application/json' }
  return { paths: [path], method: 'POST', headers: { ...type, ...headers }, body: bodyOf(bytes), statuses: [status] }
}

function forgedDigest(algorithm: 'SHA256' | 'SHA512', bytes: number): Load {
  const digest = createHmac(algorithm, 'another secret').update(bodyOf(bytes)).digest('hex')
  return post(verdicts, bytes, { 'x-payload-digest': digest, 'x-payload-digest-alg': `HMAC_${algorithm}_HEX` }, 400)
}

/** The first entry is the 401 for comparison. */
export function ways(tags: Readonly<Record<string, string>>): readonly Way[] {
  const refused = (load: Omit<Load, 'statuses'>): Load => ({ ...load, statuses: [401] })
  const unchanged = (path: string): Load => ({
    paths: [path],
    headers: { ...gzip, 'if-none-match': tags[path] ?? '' },
    statuses: [304],
  })
  const headers = Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`x-header-${n}`, 'x'.repeat(40)]))
  return [
    { name: '401, without credentials', load: refused({ paths: [list] }) },
    { name: '401, wrong credentials', load: refused({ paths: [list], authorization: basic(`0x${'1'.repeat(40)}:x`) }) },
    { name: '401, credentials of 7 KB', load: refused({ paths: [list], authorization: basic('x'.repeat(5_000)) }) },
    { name: '401, cursor of 7 KB', load: refused({ paths: [`${list}?cursor=${'x'.repeat(longest)}`] }) },
    { name: '401, 90 headers', load: refused({ paths: [list], headers }) },
    { name: '401, legacy', load: refused({ paths: [`/api/v1/tx/1/0x${'1'.repeat(64)}`] }) },
    { name: '401, /metrics', load: refused({ paths: ['/metrics'], authorization: 'Bearer wrong' }) },
    { name: '429', load: { paths: [list], statuses: [429, 401] }, isLimited: true },
    { name: '/health', load: { paths: ['/health'] } },
    { name: '/health/live', load: { paths: ['/health/live'] } },
    { name: '404', load: { paths: ['/nowhere'], statuses: [404] } },
    { name: '404, path of 7 KB', load: { paths: [`/${'a'.repeat(longest)}`], statuses: [404] } },
    { name: '401, path of 7 KB, encoded twice', load: refused({ paths: [`/${'%2541'.repeat(longest / 5)}`] }) },
    { name: '401, path of 3,500 segments', load: refused({ paths: [`/${'/a'.repeat(longest / 2)}`] }) },
    { name: '404, path of 1 KB, encoded badly', load: { paths: [`/${'%'.repeat(1_000)}`], statuses: [404, 400] } },
    { name: '405', load: { paths: ['/health'], method: 'PUT', statuses: [405] } },
    { name: '401, update with a forged signature', load: post(updates, 300, { 'x-service-signature': forged() }, 401) },
    { name: '401, the same of 16 KB', load: post(updates, 16_384, { 'x-service-signature': forged() }, 401) },
    { name: '413, update that is too large', load: post(updates, 140_000, {}, 413) },
    { name: '400, verdict with a forged digest', load: forgedDigest('SHA256', 1_000) },
    { name: '400, the same of 16 KB', load: forgedDigest('SHA512', 16_384) },
    { name: '/openapi.json, gzip', load: { paths: ['/openapi.json'], headers: gzip } },
    { name: '/openapi.json, as it is', load: { paths: ['/openapi.json'] } },
    {
      name: '/openapi.json, query of 7 KB',
      load: { paths: [`/openapi.json?${'%26'.repeat(longest / 3)}`], headers: gzip },
    },
    { name: '/openapi.json, 304', load: unchanged('/openapi.json') },
    { name: '/reference, gzip', load: { paths: ['/reference'], headers: gzip } },
    { name: 'its script, gzip', load: { paths: [bundle], headers: gzip } },
    { name: 'its script, HEAD', load: { paths: [bundle], method: 'HEAD' } },
    { name: 'its script, 304', load: unchanged(bundle) },
    { name: 'its style, gzip', load: { paths: ['/reference/swagger-ui.css'], headers: gzip } },
  ]
}
