/** Checks the facts of payments and deposits that a chain adapter hands over. @module */
import type { PaymentFacts, PriceFeedFacts, PricingFacts } from '../payments/facts.js'
import type { BridgeDeposit } from '../ports/fulfilment.js'
import {
  amountFlaw,
  type Flaw,
  firstFlaw,
  flawOf,
  listFlaw,
  objectFlaw,
  shapeFlaw,
  textFlaw,
  textOrNullFlaw,
  wholeFlaw,
} from './field-flaws.js'

/** A payment of a chain. */
export function paymentFlaw(place: string, payment: PaymentFacts, chainId: number): Flaw {
  const { router, source, tokenIn, tokenOut, integrationAddress } = payment
  return firstFlaw(
    () => (payment.chainId === chainId ? null : flawOf(`${place}.chainId`, payment.chainId, String(chainId))),
    () => shapeFlaw(`${place}.txHash`, payment.txHash, 'hash'),
    () => shapeFlaw(`${place}.blockHash`, payment.blockHash, 'hash'),
    () => shapeFlaw(`${place}.memoHex`, payment.memoHex, 'hash'),
    () => shapeFlaw(`${place}.source.txHash`, source?.txHash, 'hash'),
    () => wholeFlaw(`${place}.source.chainId`, source?.chainId, 1),
    () => wholeFlaw(`${place}.ordinal`, payment.ordinal),
    () => wholeFlaw(`${place}.logIndex`, payment.logIndex),
    () => wholeFlaw(`${place}.blockNumber`, payment.blockNumber),
    () => wholeFlaw(`${place}.blockTimestamp`, payment.blockTimestamp),
    () => shapeFlaw(`${place}.router.address`, router?.address, 'address'),
    () => textFlaw(`${place}.router.version`, router.version),
    () => shapeFlaw(`${place}.sender`, payment.sender, 'address'),
    () => shapeFlaw(`${place}.receiver`, payment.receiver, 'address'),
    () =>
      integrationAddress === null ? null : shapeFlaw(`${place}.integrationAddress`, integrationAddress, 'address'),
    () => tokenFlaw(`${place}.tokenIn`, tokenIn),
    () => amountFlaw(`${place}.tokenIn.amount`, tokenIn.amount),
    () => tokenFlaw(`${place}.tokenOut`, tokenOut),
    () => amountFlaw(`${place}.tokenOut.gross`, tokenOut.gross),
    () => amountFlaw(`${place}.tokenOut.net`, tokenOut.net),
    () =>
      tokenOut.net <= tokenOut.gross
        ? null
        : flawOf(`${place}.tokenOut.net`, tokenOut.net, `at most the gross amount, ${tokenOut.gross}n`),
    () => pricingFlaw(`${place}.pricing`, payment.pricing),
  )
}

/** A deposit of a chain: its payment, and what it promises on another chain. */
export function depositFlaw(place: string, deposit: BridgeDeposit, chainId: number): Flaw {
  const { destinationChainId, output } = deposit
  return firstFlaw(
    () => objectFlaw(`${place}.payment`, deposit.payment),
    () => paymentFlaw(`${place}.payment`, deposit.payment, chainId),
    () => textFlaw(`${place}.bridge`, deposit.bridge),
    () => shapeFlaw(`${place}.depositId`, deposit.depositId, 'digits'),
    () => wholeFlaw(`${place}.destinationChainId`, destinationChainId, 1),
    () => shapeFlaw(`${place}.receiver`, deposit.receiver, 'address'),
    () => shapeFlaw(`${place}.output.token`, output?.token, 'address'),
    () => amountFlaw(`${place}.output.amount`, output.amount),
  )
}

/** Tokens with more decimals cannot be shown. */
const mostDecimals = 255

function tokenFlaw(place: string, token: PaymentFacts['tokenIn'] | PaymentFacts['tokenOut']): Flaw {
  return firstFlaw(
    () => shapeFlaw(`${place}.address`, token?.address, 'address'),
    () => textOrNullFlaw(`${place}.symbol`, token.symbol),
    () => wholeFlaw(`${place}.decimals`, token.decimals, 0, mostDecimals),
  )
}

function pricingFlaw(place: string, pricing: PricingFacts): Flaw {
  return firstFlaw(
    () => objectFlaw(place, pricing),
    () => listedTokenFlaw(`${place}.listedToken`, pricing.listedToken),
    () => listFlaw(`${place}.feeds`, pricing.feeds, feedFlaw),
    () => {
      const { length } = pricing.feeds
      return length <= 2 ? null : flawOf(`${place}.feeds`, `${length} steps`, 'at most two')
    },
    () => (pricing.calledAmount === null ? null : amountFlaw(`${place}.calledAmount`, pricing.calledAmount)),
    () => (pricing.serviceFee === null ? null : amountFlaw(`${place}.serviceFee`, pricing.serviceFee)),
  )
}

function listedTokenFlaw(place: string, token: PricingFacts['listedToken']): Flaw {
  if (token === null) return null
  return firstFlaw(
    () => textFlaw(`${place}.symbol`, token?.symbol),
    () => textFlaw(`${place}.currency`, token.currency),
  )
}

function feedFlaw(place: string, { use, contract, pair, rate, decimals }: PriceFeedFacts): Flaw {
  return firstFlaw(
    () => (use === 'multiply' || use === 'divide' ? null : flawOf(`${place}.use`, use, '"multiply" or "divide"')),
    () => (contract === null ? null : shapeFlaw(`${place}.contract`, contract, 'address')),
    () => (pair === null ? null : textFlaw(`${place}.pair.base`, pair?.base)),
    () => (pair === null ? null : textFlaw(`${place}.pair.quote`, pair.quote)),
    () => wholeFlaw(`${place}.decimals`, decimals, 0, mostDecimals),
    () => (typeof rate === 'bigint' && rate > 0n ? null : flawOf(`${place}.rate`, rate, 'a bigint above 0')),
  )
}
