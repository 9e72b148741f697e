/** Formats and parses deposits as text. @module */
import type { BridgeDeposit, PaymentFacts } from '@payment-integration/core/ports'
import { pack, unpack } from '../internal/values.js'
import { packPricing, unpackPricing } from '../payments/pricing.js'

/** The text: large integers are decimal digits, which JSON numbers would round. */
interface DepositText extends Pick<BridgeDeposit, 'bridge' | 'depositId' | 'destinationChainId' | 'receiver'> {
  readonly payment: Omit<PaymentFacts, 'tokenIn' | 'tokenOut' | 'pricing'> & {
    readonly tokenIn: Omit<PaymentFacts['tokenIn'], 'amount'> & { readonly amount: string }
    readonly tokenOut: Omit<PaymentFacts['tokenOut'], 'gross' | 'net'> & {
      readonly gross: string
      readonly net: string
    }
    readonly pricing: string | null
  }
  readonly output: { readonly token: string; readonly amount: string }
}

/** A deposit as text. */
export function packDeposit({ payment, output, ...rest }: BridgeDeposit): string {
  const { tokenIn, tokenOut, pricing } = payment
  const text: DepositText = {
    ...rest,
    payment: {
      ...payment,
      tokenIn: { ...tokenIn, amount: tokenIn.amount.toString() },
      tokenOut: { ...tokenOut, gross: tokenOut.gross.toString(), net: tokenOut.net.toString() },
      pricing: packPricing(pricing),
    },
    output: { token: output.token, amount: output.amount.toString() },
  }
  return pack(text)
}

/** The deposit of a text of {@link packDeposit}. */
export function unpackDeposit(body: string): BridgeDeposit {
  const { payment, output, ...rest } = unpack<DepositText>(body)
  const { tokenIn, tokenOut, pricing } = payment
  return {
    ...rest,
    payment: {
      ...payment,
      tokenIn: { ...tokenIn, amount: BigInt(tokenIn.amount) },
      tokenOut: { ...tokenOut, gross: BigInt(tokenOut.gross), net: BigInt(tokenOut.net) },
      pricing: unpackPricing(pricing),
    },
    output: { token: output.token, amount: BigInt(output.amount) },
  }
}
