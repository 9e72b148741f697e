/**
 * Makes the lists of known price feeds and tokens from the published data of the npm package \@yodlpay/tokenlists 0.8.40 (MIT):
 * `node packages/chain-evm/scripts/make-known-lists.mjs <folder of the JSON files>`. With `--check` it writes nothing and exits
 * with 1 when a generated file is not what the data gives.
 *
 * A feed is listed when its entry can be believed: an address, a base and a quote, a name that says the same pair, and no
 * other entry for the address that says something else. A token's currency is the one that the list gives, else a fiat
 * currency among its tags, else the native symbol for the wrapped native token, else the token's own symbol.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
if (folder === undefined) throw new Error('Name the folder that holds pricefeeds-0.8.40.json and the other lists.')

const read = (name) => JSON.parse(readFileSync(join(folder, `${name}-0.8.40.json`), 'utf8'))
const fiat = read('fiatCurrencies').map(({ code }) => code)
const { chains } = read('chainlist-v1')
const nobody = `0x${'0'.repeat(40)}`

const isName = (text) => typeof text === 'string' && /^[0-9A-Za-z.+_-]{1,32}$/.test(text)
const isAddress = (text) => /^0x[0-9a-fA-F]{40}$/.test(text ?? '') && text !== nobody

/** Parts of an entry that cannot be believed: it contradicts any other one for its address. */
const doubted = []

/** One string per chain of entries `address:part:part`, by address; entries that contradict each other leave both out. */
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

const feeds = read('pricefeeds')
  .filter(({ address }) => isAddress(address))
  .map(({ chainId, address, name, input, output, decimals }) => {
    const pair = `${input}/${output}`.toLowerCase()
    const believed = isName(input) && isName(output) && name.replaceAll(' ', '').toLowerCase() === pair
    return { chainId, address, parts: believed ? [input, output, decimals] : doubted }
  })

const listedTokens = read('tokenlist-featured')
  .tokens.filter(({ address, symbol }) => isAddress(address) && isName(symbol))
  .map(({ chainId, address, symbol, currency, tags }) => {
    const chain = chains.find((item) => item.chainId === chainId)
    const wrapped = chain?.wrappedNativeToken.toLowerCase() === address.toLowerCase()
    const worth = currency ?? fiat.find((code) => tags.includes(code)) ?? (wrapped ? chain.nativeTokenName : symbol)
    return { chainId, address, parts: worth === symbol ? [symbol] : [symbol, worth] }
  })

const header = '// Made by scripts/make-known-lists.mjs from @yodlpay/tokenlists 0.8.40 (MIT). Do not edit.\n'
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
/** Tokens by chain id: \`address:symbol:currency\`, the address without 0x; without a currency it is the symbol. */
export const tokensByChain: Readonly<Record<number, string>> = {
${compact(listedTokens)}
}
`,
}
for (const [name, text] of Object.entries(files)) {
  const url = new URL(`../src/${name}`, import.meta.url)
  if (!process.argv.includes('--check')) writeFileSync(url, text)
  else if (readFileSync(url, 'utf8') !== text) {
    console.error(`${name} is not what the data gives; run this script without --check.`)
    process.exitCode = 1
  }
}
