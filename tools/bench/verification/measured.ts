/**
 * The measured process: every verifier on every kind of delivery and size, in random order, by CPU time (user and
 * system, of all threads). Arguments: the folder of the peers, rounds, microseconds per slice, a seed. Prints JSON.
 * @module
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createVerifier, verifySignature } from '@payment-integration/webhook'
import { signingKey, verifyBytes } from '@payment-integration/webhook/core'
import { createTestSnapshot } from '@payment-integration/webhook/testing'
import { shuffle } from '../payments.js'
import { buildSignatureHeader, type Kind, loadPeers, type MeasuredVerifier, peersMissing } from './peers.js'

const [peersFolder = '', rounds = '', sliceUs = '', seed = ''] = process.argv.slice(2)
const secret = 'pi_whsec_bench_only_0123456789abcdef'
const sizes = [512, 65_536]
const kinds: readonly Kind[] = ['genuine', 'forged']

/** A snapshot whose JSON has `bytes` bytes. */
function makeBody(bytes: number): Buffer {
  const build = (length: number) => createTestSnapshot({ recipient: { title: 'x'.repeat(length), subtitle: null } })
  const rest = JSON.stringify(build(0)).length
  return Buffer.from(JSON.stringify(build(bytes - rest)))
}

const digits = /^\d{1,12}$/
const hex = /^[0-9a-f]{64}$/

/** The floor: createHmac, a strict parse, a two-sided window, timingSafeEqual. */
function verifyAtFloor(body: Uint8Array, header: string): boolean {
  let timestamp: string | undefined
  const codes: string[] = []
  for (const field of header.split(',')) {
    const equals = field.indexOf('=')
    const name = field.slice(0, equals)
    const value = field.slice(equals + 1)
    if (name === 't') {
      if (timestamp !== undefined || !digits.test(value)) return false
      timestamp = value
    } else if (name === 'v1') {
      if (!hex.test(value)) return false
      codes.push(value)
    }
  }
  if (timestamp === undefined || Math.abs(Math.floor(Date.now() / 1000) - Number(timestamp)) > 300) return false
  const code = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()
  return codes.some((claimed) => timingSafeEqual(code, Buffer.from(claimed, 'hex')))
}

function buildOwnVerifiers(): MeasuredVerifier[] {
  const keys = [signingKey(secret)]
  const { verify } = createVerifier({ secrets: secret })
  const build = (name: string, call: (body: Buffer, header: string) => unknown): MeasuredVerifier => ({
    name,
    prepare(body, kind) {
      const header = buildSignatureHeader(secret, body, kind)
      return () => call(body, header)
    },
  })
  const headers = {
    host: 'shop.example',
    'content-type': 'application/json',
    'x-service-integration': createTestSnapshot().integrationAddress,
    connection: 'keep-alive',
  }
  return [
    build('floor', (body, header) => assert(verifyAtFloor(body, header))),
    build('ours, verifyBytes', (body, header) => verifyBytes({ body, header, keys })),
    build('ours, verifySignature', (body, header) => verifySignature({ body, header, secrets: [secret] })),
    build('ours, verify: headers, signature, JSON, fields', (body, header) =>
      verify({ body, headers: { ...headers, 'content-length': `${body.length}`, 'x-service-signature': header } }),
    ),
  ]
}

function assert(accepted: boolean): void {
  if (!accepted) throw rejected
}
const rejected = new Error('rejected')

interface Case {
  readonly name: string
  readonly size: number
  readonly kind: Kind
  readonly call: () => unknown
  calls: number
  readonly costs: number[]
}

/** CPU microseconds of one call, over `calls` of them. */
async function measureCost({ call, calls }: Case): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < calls; index++) {
    try {
      const verdict = call()
      if (verdict instanceof Promise) await verdict
    } catch {
      // A verifier throws for a forged delivery.
    }
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

/** Fails when a genuine delivery is rejected or another one accepted: a wrong result could look fast. */
async function check({ name, kind, call }: Case): Promise<void> {
  const accepts = await Promise.resolve()
    .then(call)
    .then(
      () => true,
      () => false,
    )
  if (accepts !== (kind === 'genuine'))
    throw new Error(`${name} ${accepts ? 'accepts' : 'rejects'} a ${kind} delivery.`)
}

const verifiers = [...buildOwnVerifiers(), ...(peersMissing(peersFolder) ? [] : await loadPeers(peersFolder))]
const cases = sizes.flatMap((size) => {
  const body = makeBody(size)
  return kinds.flatMap((kind) =>
    verifiers.map(
      ({ name, prepare }): Case => ({ name, size, kind, call: prepare(body, kind), calls: 200, costs: [] }),
    ),
  )
})
for (const each of cases) {
  await check(each)
  if (Number(sliceUs) > 0) {
    await measureCost(each)
    each.calls = Math.max(20, Math.ceil(Number(sliceUs) / (await measureCost(each))))
  }
}
for (let round = 0; round < Number(rounds); round++)
  for (const each of shuffle(cases, `${seed} ${round}`)) each.costs.push(await measureCost(each))
process.stdout.write(JSON.stringify(cases.map(({ name, size, kind, costs }) => ({ name, size, kind, costs }))))
