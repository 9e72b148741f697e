/**
 * The measured process: every verifier on every kind of delivery and size, in random order, by CPU time (user and
 * system, of all threads). Arguments: the folder of the peers, the web bundle, rounds, microseconds per slice, a seed.
 * Prints JSON.
 *
 * @module
 */
import { createHmac } from 'node:crypto'
import { createVerifier, verifySignature } from '@payment-integration/webhook'
import { signingKey, verifyBytes } from '@payment-integration/webhook/core'
import { createTestSnapshot } from '@payment-integration/webhook/testing'
import { floorVerify, webFloorVerify } from './floor.js'
import { loadPeers, peersMissing, secondsAgo, spoiled } from './peers.js'
import type { Kind, Subject } from './subject.js'

const [peersFolder = '', webBundle = '', rounds = '', sliceUs = '', seed = ''] = process.argv.slice(2)
const secret = 'pi_whsec_bench_only_0123456789abcdef'
const sizes = [512, 4_096, 65_536]
const kinds: readonly Kind[] = ['genuine', 'forged', 'stale', 'malformed']

/** A snapshot whose JSON has so many bytes. */
function bodyOf(bytes: number): Buffer {
  const title = (length: number) => createTestSnapshot({ recipient: { title: 'x'.repeat(length), subtitle: null } })
  const rest = JSON.stringify(title(0)).length
  return Buffer.from(JSON.stringify(title(bytes - rest)))
}

function headerOf(body: Buffer, kind: Kind): string {
  const t = secondsAgo(kind)
  const code = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
  return `t=${t},v1=${kind === 'malformed' ? code.slice(1) : spoiled(code, kind)}`
}

async function ours(): Promise<Subject[]> {
  const keys = [signingKey(secret)]
  const { verify } = createVerifier({ secrets: secret })
  const web = (await import(webBundle)) as typeof import('./web.js')
  const webKeys = [web.signingKey(secret)]
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const webKey = await crypto.subtle.importKey('raw', Buffer.from(secret), algorithm, false, ['verify'])
  return [
    {
      name: 'floor',
      prepare: (body, kind) => {
        const header = headerOf(body, kind)
        return () => assert(floorVerify(body, header, secret))
      },
    },
    {
      name: 'ours, verifyBytes',
      prepare: (body, kind) => {
        const header = headerOf(body, kind)
        return () => verifyBytes({ body, header, keys })
      },
    },
    {
      name: 'ours, verifySignature',
      prepare: (body, kind) => {
        const header = headerOf(body, kind)
        return () => verifySignature({ body, header, secrets: [secret] })
      },
    },
    {
      name: 'ours, verify: headers, signature, JSON, fields',
      prepare: (body, kind) => {
        const headers = {
          host: 'shop.example',
          'content-type': 'application/json',
          'content-length': `${body.length}`,
          'x-service-signature': headerOf(body, kind),
          'x-service-integration': createTestSnapshot().integrationAddress,
          connection: 'keep-alive',
        }
        return () => verify({ body, headers })
      },
    },
    {
      name: 'Web Crypto floor, key imported before',
      prepare: (body, kind) => {
        const header = headerOf(body, kind)
        return kind === 'genuine' ? async () => assert(await webFloorVerify(body, header, webKey)) : null
      },
    },
    {
      name: 'ours on Web Crypto, verifyBytes',
      prepare: (body, kind) => {
        const header = headerOf(body, kind)
        return kind === 'genuine' ? () => web.verifyBytes({ body, header, keys: webKeys }) : null
      },
    },
  ]
}

function assert(accepted: boolean): void {
  if (!accepted) throw refused
}
const refused = new Error('refused')

interface Case {
  readonly name: string
  readonly size: number
  readonly kind: Kind
  readonly call: () => unknown
  calls: number
  readonly costs: number[]
}

/** CPU microseconds of one call, over `calls` of them. */
async function cost({ call, calls }: Case): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < calls; index++) {
    try {
      const verdict = call()
      if (verdict instanceof Promise) await verdict
    } catch {
      // Most of these calls are expected to throw.
    }
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

/** Fails when a genuine delivery is rejected or another one accepted: a wrong result could look fast. */
async function check({ name, kind, call }: Case): Promise<void> {
  const taken = await Promise.resolve()
    .then(call)
    .then(
      () => true,
      () => false,
    )
  if (taken !== (kind === 'genuine')) throw new Error(`${name} ${taken ? 'takes' : 'refuses'} a ${kind} delivery.`)
}

/** A seeded shuffle (mulberry32). */
function shuffled<T>(items: readonly T[], draw: () => number): T[] {
  return items
    .map((item) => ({ item, at: draw() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
function draws(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const subjects = [...(await ours()), ...(peersMissing(peersFolder) ? [] : await loadPeers(peersFolder))]
const cases = sizes.flatMap((size) => {
  const body = bodyOf(size)
  return kinds.flatMap((kind) =>
    subjects.flatMap(({ name, prepare }): Case[] => {
      const call = prepare(body, kind)
      return call ? [{ name, size, kind, call, calls: 200, costs: [] }] : []
    }),
  )
})
for (const each of cases) {
  await check(each)
  if (Number(sliceUs) > 0) {
    await cost(each)
    each.calls = Math.max(20, Math.ceil(Number(sliceUs) / (await cost(each))))
  }
}
const draw = draws(Number(seed))
for (let round = 0; round < Number(rounds); round++)
  for (const each of shuffled(cases, draw)) each.costs.push(await cost(each))
process.stdout.write(JSON.stringify(cases.map(({ name, size, kind, costs }) => ({ name, size, kind, costs }))))
