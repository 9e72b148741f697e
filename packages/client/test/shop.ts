/** An integrator for the tests: one version store and one handler for deliveries and reconciling. */
import { createMemoryVersionStore, createReceiver, type VersionStore } from '@payment-integration/version-store'
import type { Client, ClientOptions, Payment, ReconcileOptions, Reconciliation } from '../src/exports/index.js'
import { reconcile } from '../src/exports/index.js'
import { paymentHash, startService } from './service.js'

type Service = Awaited<ReturnType<typeof startService>>
type Snapshot = Pick<Payment, 'integrationAddress' | 'chainId' | 'txHash' | 'version' | 'state'>

/** The integrator. `effects` has one entry per effect, such as `7@2`. */
export interface Shop {
  readonly client: Client
  readonly store: VersionStore<undefined>
  readonly effects: string[]
  /** The handler of deliveries and of reconciling. Set `reject` to have it throw. */
  readonly handle: (snapshot: Snapshot) => Promise<void>
  /** Payments whose handler throws. */
  readonly reject: Set<number>
  /** The snapshot that a delivery of the newest version would carry. */
  snapshot(n: number): Promise<Snapshot>
  /** Hands a delivery to the receiver. */
  deliver(snapshot: Snapshot): Promise<unknown>
  /** Takes the checkpoint as a file would keep it. */
  reconcile(options?: Partial<ReconcileOptions<undefined>>): Promise<Reconciliation>
}

export function openShop(service: Service, client: Client = service.client()): Shop {
  const store = createMemoryVersionStore()
  const effects: string[] = []
  const reject = new Set<number>()
  const handle = async ({ txHash, version }: Snapshot) => {
    const n = getNumber(txHash)
    if (reject.has(n)) throw new Error(`payment ${n} has no order yet`)
    effects.push(`${n}@${version}`)
  }
  const { accept } = createReceiver({ verify: async (snapshot: Snapshot) => ({ snapshot }), store, handle })
  return {
    client,
    store,
    effects,
    handle,
    reject,
    snapshot: (n) => client.payments.get(paymentHash(n)),
    deliver: accept,
    reconcile: ({ checkpoint, ...options } = {}) =>
      reconcile(client, {
        ...{ from: store, handle, ...options },
        ...(checkpoint !== undefined && { checkpoint: JSON.parse(JSON.stringify(checkpoint)) }),
      }),
  }
}

/** A shop of a service with as many payments, closed by `await using`. @param options - Of its client. */
export async function startShop(payments = 0, options: Partial<ClientOptions> = {}) {
  const service = await startService()
  await service.index(...range(payments))
  return { ...openShop(service, service.client(options)), service, [Symbol.asyncDispose]: service[Symbol.asyncDispose] }
}

/** The number of a payment, from its hash. */
export function getNumber(txHash: string): number {
  return Number(BigInt(txHash)) - 1_000
}

/** Numbers from a sample of a finding. */
export function getNumbers(samples: readonly { readonly txHash: string }[]): number[] {
  return samples.map(({ txHash }) => getNumber(txHash))
}

/** `count` numbers from `first` on. */
export function range(count: number, first = 0): number[] {
  return Array.from({ length: count }, (_, at) => first + at)
}
