/** Runs the commands of docs/rotate-a-signing-secret.md while payments arrive: CLI, server and receiver are real. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier, isWebhookRejection, readBody } from '@payment-integration/webhook'
import { expect, onTestFinished, test, vi } from 'vitest'
import { facts, indexPayments } from '../../server/test/support/index-payments.js'
import { runCli } from '../src/run-cli.js'
import { onService } from './fill-deliveries.js'
import { getCommands } from './run-commands.js'
import { serveHttp } from './serve-http.js'
import { start } from './start-process.js'
import { getEvents, testIo } from './test-io.js'

const page = readFileSync(join(import.meta.dirname, '../../../docs/rotate-a-signing-secret.md'), 'utf8')
const pageCommands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
)
const [prepare, abort, activate, list, listPending, reseal, activateNoGrace, newApiSecret] = pageCommands
const address = `0x${'a1'.repeat(20)}`
/** Deliveries that a phase is made of: enough to have some in flight at any moment of it. */
const perPhase = 15

/** A live receiver on the webhook package and the version store. */
async function startReceiver() {
  const handled = new Set<string>()
  /** How many deliveries each secret signed, by the secret. */
  const signedBy = new Map<string, number>()
  let rejected = 0
  let secrets: readonly string[] = []
  const store = createMemoryVersionStore()
  const url = await serveHttp(async (request, response) => {
    const receiverSecrets = secrets
    try {
      const { verify } = createVerifier({ secrets: receiverSecrets })
      const receiver = createReceiver({
        async verify(delivery: Parameters<typeof verify>[0]) {
          const verified = await verify(delivery)
          const secret = receiverSecrets[verified.secretIndex] ?? ''
          signedBy.set(secret, (signedBy.get(secret) ?? 0) + 1)
          return verified
        },
        store,
        handle: (snapshot) => void handled.add(snapshot.txHash),
      })
      await receiver.receive({ body: await readBody(request), headers: request.headers })
      response.writeHead(204).end()
    } catch (error) {
      rejected += 1
      response.writeHead(isWebhookRejection(error) ? error.status : 500).end()
    }
  })
  return {
    url: `${url}/webhook`,
    knows: (...given: readonly string[]) => {
      secrets = given
    },
    handled,
    signed: (secret: string) => signedBy.get(secret) ?? 0,
    rejected: () => rejected,
  }
}

/** A registered integration, its server and receiver, and payments that arrive until the end. */
async function setUp() {
  const receiver = await startReceiver()
  const { env } = getCommands('integrations', { PI_ENV: 'development' })
  /** Runs a command line of the page. */
  async function run(line = 'nothing') {
    const io = testIo({ env })
    const exitCode = await runCli([...line.split(' ').slice(1), '--json'], io)
    expect([exitCode, io.errors], line).toEqual([0, []])
    return getEvents(io)
  }
  const prepared = async () => String((await run(prepare))[0]?.['signingSecret'])
  const [created] = await run(`payment-integration integrations create ${address} --url ${receiver.url}`)
  const first = String(created?.['signingSecret'])
  receiver.knows(first)
  const server = start(['serve', '--json'], env)
  await server.line('"listening"')

  const paid: string[] = []
  const stop = new AbortController()
  const paying = onService(env, async ({ store }) => {
    while (!stop.signal.aborted) {
      const txHash = `0x${String(paid.length).padStart(64, '0')}`
      await indexPayments(store, [facts({ txHash, integrationAddress: address })])
      paid.push(txHash)
      // Paced by the receiver, so that each phase has payments before, during and after its step.
      while (paid.length - receiver.handled.size > perPhase && !stop.signal.aborted) await nextMoment()
    }
  })
  const nextMoment = () => new Promise((resolve) => setTimeout(resolve, 5))
  const eventually = (check: () => boolean, what: string) =>
    vi.waitFor(() => check() || Promise.reject(new Error(what)), { timeout: 300_000, interval: 10 })
  /** Waits for a phase of deliveries that a secret signed. */
  async function signedWith(secret: string) {
    const before = receiver.signed(secret)
    await eventually(() => receiver.signed(secret) >= before + perPhase, 'too few deliveries')
  }
  /** Waits until everything that was paid so far has arrived. */
  async function allArrived() {
    const soFar = [...paid]
    await eventually(() => soFar.every((txHash) => receiver.handled.has(txHash)), 'a payment did not arrive')
  }
  /** Ends the payments, waits for the last, and resolves what the store says of all. */
  async function finish() {
    stop.abort()
    await paying
    await allArrived()
    const settled = async () =>
      onService(env, async ({ deliveries, store }) => ({
        delivered: await deliveries.count({ status: 'delivered' }),
        others: await deliveries.list({ status: 'pending', limit: 10 }),
        attempts: (await deliveries.list({ limit: paid.length })).map((view) =>
          view.attempts.map(({ status }) => status),
        ),
        failing: await deliveries.endpoints(),
        previous: (await store.integrations.find(address))?.previousSigningSecret ?? null,
      }))
    return vi.waitFor(
      async () => {
        const state = await settled()
        expect(state).toMatchObject({ delivered: paid.length, others: [], failing: [] })
        return state
      },
      { timeout: 300_000, interval: 100 },
    )
  }
  onTestFinished(() => stop.abort())
  return { receiver, run, first, prepared, signedWith, allArrived, finish }
}

test('the page has the commands that are run here, in this order', () => {
  const rotate = `payment-integration integrations rotate-secret ${address}`
  expect(pageCommands).toEqual([
    ...['--prepare', '--abort', '--activate'].map((act) => `${rotate} --signing ${act}`),
    'payment-integration integrations list',
    `payment-integration deliveries list --integration ${address} --status pending`,
    ...['payment-integration secrets reseal', `${rotate} --signing --activate --no-grace`, `${rotate} --grace 7d`],
  ])
})

test('by the steps of the page no delivery is rejected and none is lost', async () => {
  const { receiver, run, first, prepared, signedWith, allArrived, finish } = await setUp()
  await signedWith(first)
  const dropped = await prepared()
  await run(abort)
  const next = await prepared()
  expect(next).not.toBe(dropped)
  await signedWith(first)
  receiver.knows(next, first)
  await signedWith(first)
  expect(receiver.signed(next)).toBe(0)
  await run(activate)
  await signedWith(next)
  expect(await run(list)).toMatchObject([
    { integration: { signingSecretPrepared: false, previousSigningSecretUntil: expect.any(Number) } },
  ])
  await run(listPending)
  await allArrived() // Payments before this one were signed with the old secret.
  receiver.knows(next)
  await signedWith(next)
  await run(reseal)
  const last = await prepared()
  receiver.knows(last, next)
  await run(activateNoGrace)
  await signedWith(last)
  expect(await run(newApiSecret)).toMatchObject([{ apiSecret: expect.any(String) }])
  const { attempts, previous } = await finish()
  expect([receiver.rejected(), receiver.signed(dropped), previous]).toEqual([0, 0, null])
  expect(attempts.flat().filter((status) => status === 401)).toEqual([])
})
