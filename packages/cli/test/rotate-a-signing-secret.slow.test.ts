/** Runs the commands of docs/rotate-a-signing-secret.md while payments arrive: CLI, server and receiver are real. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createMemoryVersionStore, createReceiver } from '@payment-integration/version-store'
import { createVerifier, isWebhookRejection, readBody } from '@payment-integration/webhook'
import { expect, onTestFinished, test, vi } from 'vitest'
import { facts, indexPayments } from '../../server/test/support/index-payments.js'
import { runCli } from '../src/run-cli.js'
import { onService } from './fill-deliveries.js'
import { getCommands } from './run-commands.js'
import { start } from './start-process.js'
import { getEvents, testIo } from './test-io.js'

const page = readFileSync(join(import.meta.dirname, '../../../docs/rotate-a-signing-secret.md'), 'utf8')
const pageCommands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
)
const [prepare, abort, activate, list, listPending, reseal, activateNoGrace] = pageCommands
const address = `0x${'a1'.repeat(20)}`
/** Deliveries that a phase is made of: enough to have some in flight at any moment of it. */
const perPhase = 15

const isRejection = (status: number | null) => status === 401

/** A live receiver on the webhook package and the version store. */
async function startReceiver() {
  const handled = new Set<string>()
  /** How many deliveries each secret signed, by the secret. */
  const signedBy = new Map<string, number>()
  let rejected = 0
  let secrets: readonly string[] = []
  const store = createMemoryVersionStore()
  const server = createServer(async (request, response) => {
    const own = secrets
    try {
      const { verify } = createVerifier({ secrets: own })
      const receiver = createReceiver({
        async verify(delivery: Parameters<typeof verify>[0]) {
          const verified = await verify(delivery)
          const secret = own[verified.secretIndex] ?? ''
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
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
  async function prepared(): Promise<string> {
    const [event] = await run(prepare)
    return String(event?.['signingSecret'])
  }
  onTestFinished(() => stop.abort())
  return { receiver, run, first, prepared, signedWith, allArrived, finish }
}

test('the page has the commands that are run here, in this order', () => {
  const rotate = `payment-integration integrations rotate-secret ${address} --signing`
  expect(pageCommands).toEqual([
    ...[`${rotate} --prepare`, `${rotate} --abort`, `${rotate} --activate`],
    'payment-integration integrations list',
    `payment-integration deliveries list --integration ${address} --status pending`,
    ...['payment-integration secrets reseal', `${rotate} --activate --no-grace`],
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
  // Whatever was signed with the old secret was paid before.
  await allArrived()
  receiver.knows(next)
  await signedWith(next)
  await run(reseal)
  const { attempts } = await finish()
  expect(receiver.rejected()).toBe(0)
  expect(attempts.flat().filter(isRejection)).toEqual([])
  expect(receiver.signed(dropped)).toBe(0)
})

test('a receiver that knows the new secret only after its activation misses nothing, and is not blocked', async () => {
  const { receiver, run, first, prepared, signedWith, allArrived, finish } = await setUp()
  await signedWith(first)
  const next = await prepared()
  await run(activate)
  // The old secret signs only what the receiver rejected, once what was in flight has arrived.
  await allArrived()
  await signedWith(first)
  receiver.knows(next, first)
  await signedWith(next)
  const { attempts } = await finish()
  const rejected = attempts.filter((each) => each.some(isRejection))
  // Each was sent once more at once, and delivered.
  for (const each of rejected) expect(each.slice(-2)).toEqual([401, 204])
  expect(receiver.rejected()).toBeGreaterThanOrEqual(perPhase)
})

test('without a grace time the old secret is dropped at once, and a receiver that knows both rejects nothing', async () => {
  const { receiver, run, first, prepared, signedWith, allArrived, finish } = await setUp()
  await signedWith(first)
  const next = await prepared()
  receiver.knows(next, first)
  await signedWith(first)
  await run(activateNoGrace)
  await signedWith(next)
  await allArrived()
  const lastOfFirst = receiver.signed(first)
  receiver.knows(next)
  await signedWith(next)
  const { previous } = await finish()
  expect(previous).toBeNull()
  expect([receiver.rejected(), receiver.signed(first)]).toEqual([0, lastOfFirst])
})
