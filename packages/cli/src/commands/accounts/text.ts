/** How commands print an account. @module */
import type { AccountRecord } from '@payment-integration/core/ports'
import type { LinkConfig } from './link-config.js'

/** One line about an account: `shop  0x…  137: USDC, USDT; 1: ETH`. */
export function accountLine({ handle, address, config }: AccountRecord): string {
  const accepted = config.coins.map(({ chainId, tokens }) => `${chainId}: ${symbolsOf(tokens)}`)
  return `${handle}  ${address}  ${accepted.length === 0 ? 'accepts nothing' : accepted.join('; ')}`
}

/** Everything about an account below its name. */
export function accountText({ address, config }: AccountRecord): string[] {
  const [first = 'nothing', ...more] = config.coins.map(coinText)
  return [
    `  Address  ${address}`,
    `  Accepts  ${first}`,
    ...more.map((coin) => `           ${coin}`),
    `  Then     ${actionText(config.onCompleteAction)}`,
  ]
}

type Coin = LinkConfig['coins'][number]

function coinText({ chainId, tokens, defaultAddress }: Coin): string {
  const names = tokens.map(({ symbol, address }) => (address === undefined ? symbol : `${symbol} (${address})`))
  return `${chainId}: ${names.join(', ')}${defaultAddress === undefined ? '' : `, paid to ${defaultAddress}`}`
}

function symbolsOf(tokens: Coin['tokens']): string {
  return tokens.map(({ symbol }) => symbol).join(', ')
}

function actionText(action: LinkConfig['onCompleteAction']): string {
  switch (action?.type) {
    case 'REDIRECT':
      return `redirect to ${action.payload.url}`
    case 'CLOSE_WINDOW':
      return `close the window after ${action.payload.delayMilliseconds / 1000} s`
    default:
      return 'nothing'
  }
}
