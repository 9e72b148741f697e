/** An integrator for the tests: one version store and one handler for deliveries and reconciling. */
import { createMemoryVersionStore, createReceiver, type VersionStore } from '@payment-integration/version-store'
import type { Client, ClientOptions, Payment, ReconcileOptions, Reconciliation } from '../src/exports/index.js'
import { reconcile } from '../src/exports/index.js'
import { paymentHash, startService } from './service.js'

type Service = Awaited<ReturnType<typeof startService>>
type Snapshot = Pick<Payment, 'integrationAddress' | 'chainId' | 'txHash' | 'version' | 'state'>

export type Shop = ReturnType<typeof openShop>

export function openShop(service: Service, client: Client = service.client()) {
  const store: VersionStore<undefined> = createMemoryVersionStore()
  /** One entry per effect, such as `7@2`. */
  const effects: string[] = []
  /** Payments whose handler throws. */
  const reject = new Set<number>()
  const handle = async ({ txHash, version }: Snapshot) => {
    const n = getNumber(txHash)
    if (reject.has(n)) throw new Error(`payment ${n} has no order yet`)
    effects.push(`${n}@${version}`)
  }
  const { accept } = createReceiver({ verify: async (snapshot: Snapshot) => ({ snapshot }), store, handle })
  return {
    ...{ client, store, effects, handle, reject },
    /** The snapshot that a delivery of the newest version would carry. */
    snapshot: (n: number): Promise<Snapshot> => client.payments.get(paymentHash(n)),
    /** Hands a delivery to the receiver. */
    deliver: accept,
    /** Takes the checkpoint as a file would keep it. */
    reconcile: ({ checkpoint, ...options }: Partial<ReconcileOptions<undefined>> = {}): Promise<Reconciliation> =>
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
