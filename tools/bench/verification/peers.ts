/** Loads other senders' verifiers, with deliveries of their own schemes over the same body. @module */
import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/** A genuine delivery, or a kind that forgers send. */
export type Kind = 'genuine' | 'forged'

export interface MeasuredVerifier {
  readonly name: string
  /** A call that resolves for a genuine delivery and throws for a forged one. */
  prepare(body: Buffer, kind: Kind): () => unknown
}

/** Why the verifiers are not measured, or null. @param folder - Where they are installed. */
export function peersMissing(folder: string): string | null {
  return existsSync(`${folder}node_modules`)
    ? null
    : 'stripe, svix, standardwebhooks and @octokit/webhooks-methods are not installed: npm ci --ignore-scripts --prefix tools/bench/verification/peers'
}

interface Stripe {
  readonly webhooks: {
    constructEvent(body: Buffer, header: string, secret: string): unknown
    readonly signature: { verifyHeader(body: Buffer, header: string, secret: string, tolerance: number): boolean }
  }
}
interface Webhook {
  verify(body: Buffer, headers: Readonly<Record<string, string>>): unknown
}
type WebhookClass = new (secret: string) => Webhook
type OctokitVerify = (secret: string, body: string, header: string) => Promise<boolean>

const hmac = (key: string | Buffer, ...parts: readonly (string | Buffer)[]) => {
  const hash = createHmac('sha256', key)
  for (const part of parts) hash.update(part)
  return hash
}

export async function loadPeers(folder: string): Promise<MeasuredVerifier[]> {
  const load = createRequire(`${folder}package.json`)
  const StripeClass = load('stripe') as new (key: string) => Stripe
  const stripe = new StripeClass('sk_test_bench')
  // The package of octokit has no entry that `require` can resolve.
  const octokitPath = pathToFileURL(`${folder}node_modules/@octokit/webhooks-methods/dist-node/index.js`).href
  const { verify: octokit } = (await import(octokitPath)) as { verify: OctokitVerify }
  const stripeSecret = 'whsec_bench_only_0123456789abcdef'
  const stripeHeader = (body: Buffer, kind: Kind) => buildSignatureHeader(stripeSecret, body, kind)
  return [
    {
      name: 'stripe verifyHeader',
      prepare(body, kind) {
        const header = stripeHeader(body, kind)
        return () => stripe.webhooks.signature.verifyHeader(body, header, stripeSecret, 300)
      },
    },
    {
      name: 'stripe constructEvent, with JSON',
      prepare(body, kind) {
        const header = stripeHeader(body, kind)
        return () => stripe.webhooks.constructEvent(body, header, stripeSecret)
      },
    },
    wrapSvix('standardwebhooks, with JSON', load('standardwebhooks') as { Webhook: WebhookClass }, 'webhook'),
    wrapSvix('svix, with JSON', load('svix') as { Webhook: WebhookClass }, 'svix'),
    {
      name: 'octokit verify, no time in its scheme',
      prepare(body, kind) {
        const code = hmac(stripeSecret, body).digest('hex')
        const header = `sha256=${spoilIfForged(code, kind)}`
        return () => rejectIfFalse(octokit(stripeSecret, body.toString(), header))
      },
    },
  ]
}

function wrapSvix(name: string, { Webhook }: { readonly Webhook: WebhookClass }, prefix: string): MeasuredVerifier {
  const key = Buffer.from('0123456789abcdef0123456789abcdef')
  const webhook = new Webhook(`whsec_${key.toString('base64')}`)
  return {
    name,
    prepare(body, kind) {
      const t = Math.floor(Date.now() / 1_000)
      const code = hmac(key, `msg_1.${t}.`, body).digest('base64')
      const signature = `v1,${spoilIfForged(code, kind)}`
      const headers = { [`${prefix}-id`]: 'msg_1', [`${prefix}-timestamp`]: `${t}`, [`${prefix}-signature`]: signature }
      return () => webhook.verify(body, headers)
    },
  }
}

/** The signature header of a delivery, in the form that Stripe and this service share. */
export function buildSignatureHeader(secret: string, body: Buffer, kind: Kind): string {
  const t = Math.floor(Date.now() / 1_000)
  return `t=${t},v1=${spoilIfForged(hmac(secret, `${t}.`, body).digest('hex'), kind)}`
}

/** A different code of the same form, for a forgery. */
function spoilIfForged(code: string, kind: Kind): string {
  return kind === 'forged' ? `${code[0] === 'a' ? 'b' : 'a'}${code.slice(1)}` : code
}

async function rejectIfFalse(verdict: Promise<boolean>): Promise<void> {
  if (!(await verdict)) throw new Error('rejected')
}
