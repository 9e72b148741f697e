import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import v8 from 'node:v8'
import { expect, it, onTestFinished, vi } from 'vitest'
import { sharing } from '../../test/support/config-problems.js'
import { rcode, startDns } from '../../test/support/hostile-dns.js'
import { facts, indexPayments } from '../../test/support/index-payments.js'
import { startRecordingReceiver } from '../../test/support/recording-receiver.js'
import { getTempConfig } from '../../test/support/temp-server.js'
import type { Config } from '../config/read-config.js'
import { emitToAll, openService } from './open-service.js'

/** Whether verify matches a payment of 12.5 DAI with third-party fees of 2.5 %, 1 % and none. */
async function verdicts(env: Record<string, string>) {
  const { service, store, close } = await openService(await getTempConfig(env))
  onTestFinished(close)
  const { tokenOut, receiver } = facts()
  const taken = [250n, 100n, 0n].map((bps) => (tokenOut.gross * (20n + bps)) / 10_000n)
  const verified = taken.map(async (fees, index) => {
    const txHash = `0x${`${index + 1}`.repeat(64)}`
    await indexPayments(store, [facts({ txHash, tokenOut: { ...tokenOut, net: tokenOut.gross - fees } })])
    const invoice = { invoiceAmount: '12.5', invoiceCurrency: 'USD', address: receiver }
    return (await service.legacy.verify({ chainId: 1, txHash, ...invoice })).verified
  })
  return Promise.all(verified)
}

it.each([
  [{}, [false, true, true]],
  [{ PI_MAX_EXTRA_FEE_BPS: '250' }, [true, true, true]],
  [{ PI_MAX_EXTRA_FEE_BPS: '0' }, [false, false, true]],
])('a service that is opened with %j limits what others may take', async (env, expected) => {
  expect(await verdicts(env)).toEqual(expected)
})

const shop = `0x${'a1'.repeat(20)}`

/** A service with due payments of one integration. */
async function withDue(env: Record<string, string>, notificationUrl: string, payments: number) {
  const opened = await openService(await getTempConfig(env), { actor: 'the caller' })
  onTestFinished(opened.close)
  await opened.service.integrations.create({ address: shop, notificationUrl })
  const pay = (n: number) => facts({ txHash: `0x${String(n).padStart(64, '0')}`, integrationAddress: shop })
  const all = Array.from({ length: payments }, (_, n) => pay(n))
  await indexPayments(opened.store, all)
  return opened
}

it.each([
  [{ PI_DELIVERY_CONCURRENCY: '3', PI_DELIVERY_PER_ENDPOINT: '3' }, 3],
  [{ PI_DELIVERY_CONCURRENCY: '12' }, 3],
  [{ PI_DELIVERY_PER_ENDPOINT: '2' }, 2],
])('with %j an endpoint gets %i posts at a time', async (env, most) => {
  const receiver = await startRecordingReceiver()
  onTestFinished(receiver.stop)
  const { service } = await withDue(env, `${receiver.url}/`, 12)
  let highest = 0
  const open: (() => void)[] = []
  const answerAll = () => {
    for (const answer of open.splice(0)) answer()
  }
  receiver.answer = (_, response) => {
    open.push(() => response.writeHead(204).end())
    highest = Math.max(highest, open.length)
    // Waits after the last expected one, so that an extra one would arrive.
    if (open.length === most) setTimeout(answerAll, 100)
  }
  expect(await service.dispatcher.runOnce()).toBe(12)
  expect(highest).toBe(most)
})

it('a service queries only the name servers of PI_DNS_SERVERS', async () => {
  const dns = await startDns(() => ({ flags: rcode.refused }))
  onTestFinished(dns.stop)
  const url = 'https://shop.payment-integration.example/hook'
  const { service } = await withDue({ PI_DNS_SERVERS: dns.servers.join() }, url, 1)
  expect(await service.dispatcher.runOnce()).toBe(1)
  expect(new Set(dns.queries.map(({ name }) => name))).toEqual(new Set(['shop.payment-integration.example']))
  const [delivery] = await service.deliveries.list({ limit: 1 })
  expect(delivery?.attempts).toMatchObject([{ status: null, reason: 'connection' }])
})

it('a service posts to no address that PI_DELIVERY_DENY denies', async () => {
  const receiver = await startRecordingReceiver()
  onTestFinished(receiver.stop)
  const url = receiver.url.replace('127.0.0.1', 'shop.localhost')
  // The name has both loopback addresses, and one that is not denied would be used.
  const { service } = await withDue({ PI_DELIVERY_DENY: '127.0.0.0/8,::1/128' }, `${url}/`, 1)
  expect(await service.dispatcher.runOnce()).toBe(1)
  const [delivery] = await service.deliveries.list({ limit: 1 })
  expect(delivery?.attempts).toMatchObject([{ status: null, reason: 'rejected_address' }])
  expect(receiver.arrived).toEqual([])
})

it('a service registers no URL whose host is an address that PI_DELIVERY_DENY denies', async () => {
  const registered = withDue({ PI_DELIVERY_DENY: '127.0.0.0/8' }, 'http://127.0.0.1:9000/hook', 0)
  await expect(registered).rejects.toMatchObject({ code: 'ERR_URL_INVALID' })
  const { service } = await withDue({ PI_DELIVERY_DENY: '127.0.0.0/9' }, 'http://127.128.0.1:9000/hook', 0)
  const moved = service.integrations.setNotificationUrl(shop, 'http://127.0.0.2:9000/hook')
  await expect(moved).rejects.toMatchObject({ code: 'ERR_URL_INVALID' })
})

it('an event reaches every sink, even after one that throws; its exception is thrown after them', () => {
  const received: string[] = []
  const fail = () => {
    throw new Error('the metrics failed')
  }
  const emit = emitToAll(undefined, fail, ({ type }) => void received.push(type))
  expect(() => emit({ type: 'payments.skipped', chainId: 1, count: 1 })).toThrow('the metrics failed')
  expect(received).toEqual(['payments.skipped'])
})

it('a chain with neither configured nor known routers stops the opening, and names the variable', async () => {
  const config = await getTempConfig({ PI_RPC_URL_424242: 'http://127.0.0.1:1' })
  const problems = [expect.stringContaining('PI_ROUTERS_424242 is not set, and no router of chain 424242 is known')]
  await expect(openService(config)).rejects.toMatchObject({ code: 'ERR_CONFIG', problems })
})

it('a configuration that contradicts itself leaves no database open', async () => {
  const config = await getTempConfig()
  const broken = { ...config, delivery: { ...config.delivery, concurrency: 0 } }
  await expect(openService(broken)).rejects.toThrow(RangeError)
  const { service, close } = await openService(config)
  await service.integrations.create({ address: shop })
  await close()
})

/** The V8 flags that are set while a service is opened and closed. */
async function toldBy(options: Parameters<typeof openService>[1]): Promise<string[]> {
  const setFlags = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue()
  onTestFinished(() => setFlags.mockRestore())
  const { close } = await openService(await getTempConfig(), options)
  await close()
  return setFlags.mock.calls.map(([flag]) => flag)
}

it('a dedicated process bounds its heap, by a flag that this V8 knows', async () => {
  const told = await toldBy({ ownsProcess: true })
  expect(told).toEqual(['--heap-growing-percent=100'])
  expect(spawnSync(process.execPath, [...told, '--eval', '']).status).toBe(0)
})

it('the heap of a host process is not changed', async () => {
  expect(await toldBy({})).toEqual([])
})

type Service = Awaited<ReturnType<typeof openService>>['service']

async function withService<T>(config: Config, work: (service: Service) => Promise<T>): Promise<T> {
  const { service, close } = await openService(config)
  return work(service).finally(close)
}
const emailKey = async (service: Service) => service.identity?.emailKey('somebody@example.com')

it('after secrets are rotated one by one, the old master key of e-mail addresses is required until they are resealed', async () => {
  const old = await getTempConfig(sharing)
  const newKey = randomBytes(32).toString('hex')
  const both = { ...old, masterKey: `${newKey},${old.masterKey}` }
  const alone = { ...old, masterKey: newKey }
  const stored = await withService(old, async (service) => {
    await service.integrations.create({ address: shop })
    return emailKey(service)
  })
  await withService(both, async ({ integrations }) => {
    await integrations.rotateApiSecret(shop, { graceMs: 0 })
    await integrations.prepareSigningSecret(shop)
    await integrations.activateSigningSecret(shop, { graceMs: 0 })
  })
  await expect(openService(alone)).rejects.toMatchObject({
    code: 'ERR_MASTER_KEY_MISSING',
    message: expect.stringMatching(/data_keys.*secrets reseal/s),
  })
  expect(await withService(both, ({ integrations }) => integrations.resealSecrets())).toMatchObject({ dataKeys: 1 })
  expect(await withService(alone, emailKey)).toBe(stored)
})
