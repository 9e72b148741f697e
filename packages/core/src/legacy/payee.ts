/**
 * Resolves the payee of a verify request. Source: docs/interface.md 2.4 (link configuration), 4.3.
 * @module
 */
import type { CoinConfig } from '@payment-integration/contract'
import { parseHandle } from '../accounts/handle.js'
import { lowercaseAddress } from '../internal/address.js'
import type { StoredPayment } from '../payments/record.js'
import type { AccountRecord, AccountStore } from '../ports/store-accounts.js'

type Paid = Pick<StoredPayment, 'chainId' | 'receiver' | 'tokenOut' | 'pricing'>

/** The payee's rules. */
export interface Payee {
  /** Whether a link configuration accepts the payment's token on its chain, at this payee. */
  accepts(payment: Paid): boolean
  /** Whether the payment went to this payee. */
  received(payment: Paid): boolean
}

/** Resolves an address, else the handle of an account, in any case. */
export async function resolvePayee(
  accounts: Pick<AccountStore, 'find' | 'findByAddress'>,
  text: string,
): Promise<Payee> {
  const address = lowercaseAddress(text)
  if (address !== null) return payeeAt(address, await accounts.findByAddress(address))
  const handle = parseHandle(text)
  const account = handle === null ? null : await accounts.find(handle)
  return account === null ? unknownPayee : payeeOf(account)
}

/** An address. The configurations of its accounts decide; without an account every listed token is accepted. */
function payeeAt(address: string, accounts: readonly AccountRecord[]): Payee {
  return {
    received: ({ receiver }) => receiver === address,
    accepts: (payment) =>
      accounts.length === 0
        ? payment.pricing.listedToken !== null
        : accounts.some((account) => coinAccepts(account, payment, address)),
  }
}

function payeeOf(account: AccountRecord): Payee {
  return {
    received: ({ chainId, receiver }) => receiver === receiverOf(account, coinOn(account, chainId)),
    accepts: (payment) => coinAccepts(account, payment, payment.receiver),
  }
}

/** An unknown handle has neither a configuration to violate nor an address that receives. */
const unknownPayee: Payee = { received: () => false, accepts: () => true }

function coinAccepts(account: AccountRecord, payment: Paid, receiver: string): boolean {
  const coin = coinOn(account, payment.chainId)
  return coin !== undefined && acceptsToken(coin, payment) && receiverOf(account, coin) === receiver
}

function coinOn({ config }: AccountRecord, chainId: number): CoinConfig | undefined {
  return config.coins.find((coin) => coin.chainId === chainId)
}

function receiverOf({ address }: AccountRecord, coin: CoinConfig | undefined): string {
  return coin?.defaultAddress ?? address
}

// A symbol alone names the listed token: any contract can choose that symbol.
function acceptsToken({ tokens }: CoinConfig, { tokenOut, pricing }: Paid): boolean {
  return tokens.some(({ symbol, address }) =>
    address === undefined ? pricing.listedToken?.symbol === symbol : address === tokenOut.address,
  )
}
