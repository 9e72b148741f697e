/**
 * Makes the lists of known price feeds and tokens from the npm package \@yodlpay/tokenlists (MIT), a development
 * dependency: `node packages/chain-evm/scripts/make-known-lists.mjs`. With `--check` it writes nothing and exits with 1
 * when a generated file is not what the data gives; a test runs that.
 *
 * Currency codes are written in capital letters, the only form in which the legacy API takes them.
 * A feed is listed when its entry has an address, a base and a quote, a name with the same pair, and no contradicting
 * entry for its address. The currency of a token is the first of these that exists:
 * - the list's own;
 * - a fiat currency among its tags;
 * - the list's for the same asset on another chain;
 * - the native symbol, for the wrapped native token;
 * - the token's own symbol.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const read = (file) => require(`@yodlpay/tokenlists/${file}`)
const source = `@yodlpay/tokenlists ${read('package.json').version}`
const fiat = read('dist/fiatCurrencies.json').map(({ code }) => code)
const { chains } = read('dist/chainlist-v1.json')
const { tokens } = read('dist/tokenlist-featured.json')
const nobody = `0x${'0'.repeat(40)}`

/**
 * Assets that were renamed while the names of their feeds stayed: former code to present code. The data proves each: on
 * chain 137 the feeds `MATIC / USD` and `MATIC / ETH` have the base POL, and `LINK / MATIC` has the quote POL.
 */
const renamed = new Map([['MATIC', 'POL']])

/** What the legacy API takes as a currency, from the source of the contract package: Node 20 imports no TypeScript. */
const legacySource = readFileSync(new URL('../../contract/src/legacy.ts', import.meta.url), 'utf8')
const currencyCodePattern = /^[A-Z0-9.+_-]{1,16}$/
if (!legacySource.includes(`currencyCodePattern = ${currencyCodePattern}`))
  throw new Error('The pattern of a currency code differs from that of packages/contract/src/legacy.ts; take that one.')
const isCode = (text) => typeof text === 'string' && currencyCodePattern.test(text)
const isSymbol = (text) => typeof text === 'string' && /^[0-9A-Za-z.+_-]{1,32}$/.test(text)
const isAddress = (text) => /^0x[0-9a-fA-F]{40}$/.test(text ?? '') && text !== nobody

/** Parts of an entry that cannot be trusted: it contradicts any other one for its address. */
const doubted = []

/**
 * One string per chain of entries `address:part:part`, by address; entries that contradict each other leave both out.
 */
function compact(entries) {
  const byChain = new Map()
  for (const { chainId, address, parts } of entries) {
    const chain = byChain.get(chainId) ?? new Map()
    byChain.set(chainId, chain)
    const key = address.toLowerCase().slice(2)
    const text = parts === doubted ? null : parts.join(':')
    chain.set(key, chain.has(key) && chain.get(key) !== text ? null : text)
  }
  return [...byChain]
    .sort(([a], [b]) => a - b)
    .map(([chainId, chain]) => {
      const items = [...chain].filter(([, text]) => text !== null).sort(([a], [b]) => (a < b ? -1 : 1))
      return `  ${chainId}: '${items.map((item) => item.join(':')).join(' ')}',`
    })
    .join('\n')
}

/** Whether a feed's name says its pair, by the present codes or by former ones. */
function saysPair(name, base, quote) {
  const codes = name.replaceAll(' ', '').toUpperCase().split('/')
  const isPair = (said) => said.length === 2 && said[0] === base && said[1] === quote
  return isPair(codes) || isPair(codes.map((code) => renamed.get(code) ?? code))
}

const feeds = read('dist/pricefeeds.json')
  .filter(({ address }) => isAddress(address))
  .map(({ chainId, address, name, input, output, decimals }) => {
    const [base, quote] = [input, output].map((code) => code?.toUpperCase())
    const isConsistent = isCode(base) && isCode(quote) && saysPair(name, base, quote)
    return { chainId, address, parts: isConsistent ? [base, quote, decimals] : doubted }
  })

/**
 * The one currency that the list gives for the same asset on other chains: EURC is worth EUR, so bridged EURC is, too.
 */
function currencyElsewhere(asset) {
  const same = tokens.filter(({ coinGeckoId, currency }) => coinGeckoId === asset && currency !== undefined)
  const [currency, ...others] = new Set(same.map((token) => token.currency))
  return asset !== undefined && others.length === 0 ? currency : undefined
}

const listedTokens = tokens
  .filter(({ address, symbol }) => isAddress(address) && isSymbol(symbol))
  .map(({ chainId, address, symbol, currency, tags, coinGeckoId }) => {
    const chain = chains.find((item) => item.chainId === chainId)
    const wrapped = chain?.wrappedNativeToken.toLowerCase() === address.toLowerCase()
    const given = currency ?? fiat.find((code) => tags.includes(code)) ?? currencyElsewhere(coinGeckoId)
    const worth = (given ?? (wrapped ? chain.nativeTokenName : symbol)).toUpperCase()
    if (!isCode(worth))
      throw new Error(`${symbol} (${chainId}:${address}) is worth ${worth}, which verify rejects as a currency.`)
    return { chainId, address, parts: worth === symbol ? [symbol] : [symbol, worth] }
  })

const header = `// Made by scripts/make-known-lists.mjs from ${source} (MIT). Do not edit.\n`
const files = {
  'known-price-feeds.generated.ts': `${header}
/** Price feeds by chain id: \`address:base:quote:decimals\`, the address without 0x. */
export const priceFeedsByChain: Readonly<Record<number, string>> = {
${compact(feeds)}
}

/** Fiat currencies that invoices may have. */
export const fiatCodes = '${fiat.join(' ')}'
`,
  'known-tokens.generated.ts': `${header}
/** Tokens by chain id: \`address:symbol:currency\`, the address without 0x; the currency defaults to the symbol. */
export const tokensByChain: Readonly<Record<number, string>> = {
${compact(listedTokens)}
}
`,
}
for (const [name, text] of Object.entries(files)) {
  const url = new URL(`../src/prices/${name}`, import.meta.url)
  if (!process.argv.includes('--check')) writeFileSync(url, text)
  else if (readFileSync(url, 'utf8') !== text) {
    console.error(`${name} is not what the data gives; run this script without --check.`)
    process.exitCode = 1
  }
}
