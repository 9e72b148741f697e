import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Anvil,
  createPayer,
  type DevDeployment,
  deployDevRouter,
  startAnvil,
} from '@payment-integration/chain-evm/dev'
import { createLegacyClient } from '@payment-integration/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Command, runCommand, startCommand } from './command.js'

const merchant = `0x${randomBytes(20).toString('hex')}`
/** How long a server caches a checked key. Source: docs/decisions/secrets.md. */
const cachedMs = 250
const invoice = { invoiceAmount: '12.50', invoiceCurrency: 'USD' }

/**
 * Registers the tests of the command at the path `bin`: a key and an account made by it, look-up and verification
 * over HTTP.
 */
export function legacyEndToEnd(bin: string): void {
  describe('the legacy API, end to end, on a real chain', () => {
    let folder: string
    let anvil: Anvil
    let deployment: DevDeployment
    let env: Record<string, string>
    let server: Command
    let url: string
    let apiKey: string
    let keyId: string
    let txHash: string

    async function cli(...args: string[]) {
      const ended = await runCommand(bin, [...args, '--json'], env)
      expect(ended.errors, args.join(' ')).toBe('')
      expect(ended.code, args.join(' ')).toBe(0)
      return ended.lines as { readonly [name: string]: never }[]
    }
    async function ask(path: string, init: RequestInit = {}) {
      const headers = { authorization: apiKey, 'content-type': 'application/json' }
      const response = await fetch(`${url}${path}`, { headers, ...init })
      return { status: response.status, json: (await response.json()) as Record<string, unknown> }
    }
    const lookup = () => ask(`/api/v1/tx/31337/${txHash}`)
    const verify = (change: object = {}) => {
      const body = { chainId: 31_337, txHash, ...invoice, address: 'shop', ...change }
      return ask('/api/v1/verify', { method: 'POST', body: JSON.stringify(body) })
    }

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'pi-e2e-legacy-'))
      anvil = await startAnvil()
      deployment = await deployDevRouter(anvil)
      const { router, tokens } = deployment
      env = {
        PI_PORT: '0',
        PI_DATABASE_URL: `sqlite:${join(folder, 'e2e.db')}`,
        PI_MASTER_KEY: randomBytes(32).toString('base64url'),
        PI_RPC_URL_31337: anvil.rpcUrl,
        PI_ROUTERS_31337: `${router.address}@${router.version}`,
        PI_TOKENS_31337: `${tokens.usdc.address}:USDC:USD`,
        PI_CONFIRMATIONS_31337: '1',
        PI_START_BLOCK_31337: '0',
        PI_POLL_MS_31337: '50',
      }
      const [issued] = await cli('legacy-keys', 'create', '--name', 'e2e')
      apiKey = String(issued?.['apiKey'])
      keyId = String((issued?.['key'] as { id?: unknown } | undefined)?.id)
      await cli('accounts', 'create', 'Shop', '--address', merchant, '--accept', '31337:USDC')
      server = startCommand(bin, ['serve', '--json'], env)
      url = String((await server.line('listening'))['url'])
    })

    afterAll(async () => {
      await server?.kill('SIGKILL')
      await anvil?.stop()
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    })

    it('a mined payment is found by chain and hash, with what it cost', async () => {
      const payer = createPayer({ ...anvil, deployment })
      const payment = { integrationAddress: null, receiver: merchant, memo: 'order-7' }
      txHash = await payer.pay({ ...payment, amount: 12_500_000n })
      const deadline = Date.now() + 20_000
      while ((await lookup()).status === 404 && Date.now() < deadline) await delay(50)
      const found = await lookup()
      expect(found).toEqual({
        status: 200,
        json: {
          chainId: 31_337,
          txHash,
          payments: [
            {
              memo: 'order-7',
              receiver: merchant,
              tokenSymbol: 'USDC',
              tokenAmount: { formatted: '12.5', value: '12500000' },
              tokenAmountNet: { formatted: '12.475', value: '12475000' },
              totalFees: { formatted: '0.025', value: '25000' },
              fees: [{ type: 'ServiceFee', formatted: '0.025', value: '25000' }],
              invoiceAmount: '12.5',
              invoiceCurrency: 'USD',
              conversion: '',
              priceFeeds: [],
              final: false,
            },
          ],
        },
      })
      await payer.pay({ ...payment, amount: 1n })
      const isFinal = async () => (await lookup()).json['payments'] as { final: boolean }[]
      while (!(await isFinal())[0]?.final && Date.now() < deadline) await delay(50)
      expect((await isFinal()).map(({ final }) => final)).toEqual([true])
    })

    it.each([
      ['the handle', {}],
      ['the handle in another case, and a number', { address: 'SHOP', invoiceAmount: 12.5 }],
      ['the receiver', { address: merchant }],
    ])('it is verified against its invoice by %s', async (_name, change) => {
      expect(await verify(change)).toMatchObject({
        status: 200,
        json: { payments: [{ verified: true, verificationErrors: [] }] },
      })
    })

    it.each([
      [{ invoiceAmount: '12.49' }, ['Invalid payment amount']],
      [{ invoiceCurrency: 'EUR' }, ['Invalid payment currency']],
      [{ address: 'nobody' }, ['Invalid payment address']],
    ])('%j does not match: 409 and the reason', async (change, verificationErrors) => {
      expect(await verify(change)).toMatchObject({
        status: 409,
        json: { payments: [{ verified: false, verificationErrors }] },
      })
    })

    it('the client reads the same answers, and turns a mismatch into an error with the reasons', async () => {
      const client = createLegacyClient({ baseUrl: url, apiKey })
      const transaction = { chainId: 31_337, txHash }
      expect(await client.lookup(transaction)).toEqual((await lookup()).json)
      const order = { ...transaction, ...invoice, address: 'shop' }
      expect((await client.verify({ ...order, invoiceAmount: 12.5 })).payments).toMatchObject([{ verified: true }])
      await expect(client.verify({ ...order, invoiceAmount: '12.51' })).rejects.toMatchObject({
        code: 'ERR_VERIFICATION_FAILED',
        verificationErrors: ['Invalid payment amount'],
      })
    })

    it('an account changed while the server runs is judged as it is now', async () => {
      const path = join(folder, 'link.json')
      writeFileSync(path, JSON.stringify({ coins: [{ chainId: 1, tokens: [{ symbol: 'USDC' }] }] }))
      await cli('accounts', 'change', 'shop', '--config', path)
      expect(await verify()).toMatchObject({
        status: 409,
        json: { payments: [{ verificationErrors: ['Payment does not match link configuration'] }] },
      })
      await cli('accounts', 'change', 'shop', '--accept', '31337:USDC')
      expect((await verify()).status).toBe(200)
      await cli('accounts', 'remove', 'shop')
      expect((await verify()).status).toBe(409)
    })

    it('a key that is revoked while it is in use opens nothing a quarter of a second after the command ended, and never again', async () => {
      const answers: { readonly askedAt: number; readonly status: number }[] = []
      let endedAt = Number.POSITIVE_INFINITY
      const polling = (async () => {
        while (Date.now() < endedAt + 3 * cachedMs) {
          const askedAt = Date.now()
          answers.push({ askedAt, status: (await lookup()).status })
          await delay(5)
        }
      })()
      while (answers.length === 0) await delay(5)
      await cli('legacy-keys', 'revoke', keyId)
      endedAt = Date.now()
      await polling
      const refusedFrom = answers.findIndex(({ status }) => status === 401)
      const late = answers.filter(({ askedAt }) => askedAt >= endedAt + cachedMs)
      expect(answers[0]?.status).toBe(200)
      expect(new Set(answers.slice(0, refusedFrom).map(({ status }) => status))).toEqual(new Set([200]))
      expect(new Set(answers.slice(refusedFrom).map(({ status }) => status))).toEqual(new Set([401]))
      expect(late.length).toBeGreaterThan(0)
      expect(new Set(late.map(({ status }) => status))).toEqual(new Set([401]))
      expect(await lookup()).toEqual({ status: 401, json: { error: 'Unauthorized' } })
      expect((await verify()).status).toBe(401)
    })
  })
}
