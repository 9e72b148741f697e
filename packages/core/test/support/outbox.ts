/** The outbox of a store, with faults on demand and a log of its calls. @module */
import { expect } from 'vitest'
import type { IntegrationRecord } from '../../src/integrations/integration.js'
import type { ClaimRequest, DeliveryStore, ReplayRequest } from '../../src/notifications/delivery-store.js'
import type { PaymentFacts } from '../../src/payments/payment.js'
import type { NewSnapshot } from '../../src/payments/payment-store.js'
import type { TestStore } from './store.js'
import { hashOf, paymentFacts } from './stored-payment.js'

/** A delivery to put into the outbox. Those with one URL and secret are of one integration, unless it is named. */
export interface NewDelivery
  extends Partial<Pick<PaymentFacts, 'chainId'> & Pick<IntegrationRecord, 'signingSecret' | 'previousSigningSecret'>> {
  /** The hash of its payment is made from it. */
  readonly name: string
  readonly integrationAddress?: string
  readonly notificationUrl?: string
  readonly version?: number
  readonly body?: Uint8Array
  /** Of the last one that is added; by default now. */
  readonly dueAt?: number
}

/** An address of twenty bytes that shows its name in a dump. */
export const getAddress = (name: string): string => `0x${Buffer.from(name).toString('hex').padStart(40, '0')}`

/** The URL of an integration unless a test gives another: each has an endpoint of its own. */
export const getUrl = (integrationAddress: string): string => `https://${integrationAddress}.example/hook`

/** Deliveries that are named by their place from 0: `d0` has the id 1 in a new store. */
export const numbered = (count: number, given: Omit<NewDelivery, 'name'> = {}): NewDelivery[] =>
  Array.from({ length: count }, (_, index) => ({ name: `d${index}`, ...given }))

export function getOutbox(store: TestStore) {
  const { deliveries } = store
  const failures: Record<'claim' | 'settle', Error[]> = { claim: [], settle: [] }
  const failOnce = (errors: Error[]) => {
    const error = errors.shift()
    if (error) throw error
  }
  const claims: ClaimRequest[] = []
  const groups: number[] = []

  const registered = new Set<string>()
  /** Registers the integration of a delivery. Resolves its address. */
  async function register({ name, signingSecret, previousSigningSecret, ...given }: NewDelivery): Promise<string> {
    const named = `${given.notificationUrl ?? ''}${signingSecret?.sealed ?? ''}`
    const address = given.integrationAddress ?? getAddress(named.slice(-20))
    if (registered.has(address) || (await store.integrations.find(address)) !== null) return address
    registered.add(address)
    const record = {
      ...{ address, name, enabled: true, apiSecret: null, previousApiSecret: null, preparedSigningSecret: null },
      notificationUrl: given.notificationUrl ?? getUrl(address),
      signingSecret: signingSecret ?? { keyVersion: 1, sealed: 'sealed' },
      previousSigningSecret: previousSigningSecret ?? null,
      createdAt: 0,
    }
    await store.transaction((tx) => tx.integrations.insert(record))
    return address
  }

  return {
    ...deliveries,
    /** Errors of the next calls, by method; each is thrown once. */
    failures,
    claims,
    /** How many attempts each settle held, rejected ones included. */
    groups,
    get claimLimits() {
      return claims.map(({ limit }) => limit)
    },
    /** Adds deliveries. The ids of a new store are numbers from 1. */
    async add(...added: readonly NewDelivery[]) {
      const facts = new Map<string, PaymentFacts>()
      for (const each of added) {
        const integrationAddress = await register(each)
        facts.set(each.name, paymentFacts(each.name, { chainId: each.chainId ?? 1, integrationAddress }))
      }
      await store.transaction(async (tx) => {
        await tx.upsertPayments([...facts.values()].map((each) => ({ facts: each, primary: true })))
        const payments = new Map(
          (await tx.paymentsForChange(...facts.values())).map((payment) => [payment.txHash, payment]),
        )
        const snapshots = added.map(({ name, version = 1, ...given }): NewSnapshot => {
          const payment = payments.get(hashOf(name)) ?? expect.unreachable('it is stored')
          const body = given.body ?? new TextEncoder().encode(JSON.stringify({ name }))
          return { ...payment, paymentId: payment.id, version, body }
        })
        await tx.insertSnapshots(snapshots)
      })
      const last = added.at(-1)
      if (last?.dueAt !== undefined)
        store.sql('update outbox set due_at = ? where id = (select max(id) from outbox)', last.dueAt)
    },
    /** The newest delivery of that name. */
    async view(name: string) {
      const [view] = (await deliveries.list({ txHash: hashOf(name), limit: 9 })).slice(-1)
      if (view === undefined) throw new Error(`there is no delivery ${name}`)
      return view
    },
    replay: (request: ReplayRequest) => store.transaction((tx) => tx.replayDeliveries(request)),
    async claim(request: ClaimRequest) {
      claims.push(request)
      failOnce(failures.claim)
      return deliveries.claim(request)
    },
    async settle(...[settled, judge]: Parameters<DeliveryStore['settle']>) {
      groups.push(settled.length)
      failOnce(failures.settle)
      return deliveries.settle(settled, judge)
    },
    /** Makes every lease that runs end later. */
    extendLeases: (ms: number) =>
      void store.sql('update outbox set due_at = due_at + ? where claim_token is not null', ms),
  }
}
