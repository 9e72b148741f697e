/** A small correct receiver whose steps a test replaces by faulty ones. @module */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { SnapshotBody } from '@payment-integration/contract'
import { listen } from '../support.js'

export const signingSecret = 'whsec_of_the_planted_receiver'
export const apiSecret = 'api_secret_of_the_integration'
export const integrationAddress = `0x${'ab'.repeat(20)}`

/** The steps of a receiver. A number is the status with which it rejects. */
export interface Steps {
  /** Handles a request before anything is read. Returns whether it was answered. */
  before(request: IncomingMessage, response: ServerResponse): boolean | Promise<boolean>
  read(request: IncomingMessage): Promise<Buffer | number>
  /** The bytes that are verified. */
  verifiedBytes(body: Buffer): string | Buffer
  fieldsOf(header: string): { readonly t: string; readonly code: string } | number
  readonly key: string
  isEqual(expected: string, given: string): boolean
  /** @param ageSeconds - Positive for the past. */
  isFresh(ageSeconds: number): boolean
  /** Whether the signature is checked at all. */
  isChecked(headers: IncomingHttpHeaders): boolean
  /** Looks at the parsed snapshot. Returns a status, or null to accept. */
  inspect(snapshot: SnapshotBody): number | null
  /** Compares versions and stores. @returns The status, and whether the effect happens. */
  store(versions: Map<string, number>, snapshot: SnapshotBody): readonly [status: number, hasEffect: boolean]
  /** Whether the answer 200 is sent before the checks. */
  readonly answersFirst: boolean
}

const headerName = 'x-service-signature'

export const correct: Steps = {
  before: () => false,
  async read(request) {
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of request) {
      length += chunk.length
      if (length <= 262_144) chunks.push(chunk)
    }
    return length > 262_144 ? 413 : Buffer.concat(chunks)
  },
  verifiedBytes: (body) => body,
  fieldsOf(header) {
    const fields = new Map(header.split(',').map((field) => field.split('=', 2) as [string, string]))
    const [t, code] = [fields.get('t') ?? '', fields.get('v1') ?? '']
    return /^\d+$/.test(t) ? { t, code } : 400
  },
  key: signingSecret,
  isEqual: (expected, given) => expected === given,
  isFresh: (ageSeconds) => Math.abs(ageSeconds) <= 300,
  isChecked: () => true,
  inspect: () => null,
  store(versions, { chainId, txHash, version }) {
    const key = `${chainId}:${txHash}`
    if (version <= (versions.get(key) ?? 0)) return [204, false]
    versions.set(key, version)
    return [204, true]
  },
  answersFirst: false,
}

/** Starts a receiver with replaced steps. It is closed after the test. */
export async function plant(fault: Partial<Steps> = {}) {
  const steps = { ...correct, ...fault }
  const versions = new Map<string, number>()
  let effects = 0

  async function answer(request: IncomingMessage): Promise<number> {
    if (request.method !== 'POST') return 405
    const body = await steps.read(request)
    if (typeof body === 'number') return body
    if (steps.isChecked(request.headers)) {
      const header = request.headers[headerName]
      if (typeof header !== 'string') return 401
      const fields = steps.fieldsOf(header)
      if (typeof fields === 'number') return fields
      const hmac = createHmac('sha256', steps.key).update(`${fields.t}.`).update(steps.verifiedBytes(body))
      if (!steps.isEqual(hmac.digest('hex'), fields.code)) return 401
      if (!steps.isFresh(Math.floor(Date.now() / 1_000) - Number(fields.t))) return 400
    }
    const snapshot = JSON.parse(body.toString())
    const rejected = steps.inspect(snapshot)
    if (rejected !== null) return rejected
    const [status, hasEffect] = steps.store(versions, snapshot)
    if (hasEffect) effects++
    return status
  }

  const server = createServer(async (request, response) => {
    if (await steps.before(request, response)) return
    try {
      const answered = answer(request)
      if (steps.answersFirst) {
        await answered.catch(() => null)
        response.writeHead(200).end()
      } else response.writeHead(await answered).end()
    } catch {
      response.writeHead(500).end()
    }
  })
  return { url: `http://127.0.0.1:${await listen(server)}/webhook`, effects: async () => effects }
}
