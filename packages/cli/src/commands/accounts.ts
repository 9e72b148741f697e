/** `payment-integration accounts …`: who is paid, where, and in which tokens. @module */
import { isUtf8 } from 'node:buffer'
import { parseForeignJson } from '@payment-integration/contract/internal-io'
import type { AccountInput, AccountRecord } from '@payment-integration/core/internal'
import type { Config } from '@payment-integration/server/service'
import type { Command } from 'commander'
import type { AcceptedTokens, ChainAddress, Cli, Options } from '../command.js'
import { addGroup, parseAcceptedTokens, parseAddress, parseChainAddress, parseDuration } from '../command.js'
import { UsageError } from '../errors.js'
import { formatInputName, readInput } from '../input.js'
import type { ExitCode, Io } from '../io.js'
import { type OperateOptions, operate, withService } from '../with-service.js'

const handleHelp = 'handle of the account, such as shop'
const addressHelp = 'address that is paid: 0x and 40 hex digits'
const exampleAddress = `0x${'c3'.repeat(20)}`
const exampleCreate = `create shop --address ${exampleAddress} --accept 137:USDC,USDT --accept 1:USDC`

export function addAccounts(cli: Cli): void {
  const about = 'manage accounts and their link configurations'
  const { add, change } = addGroup(cli, 'accounts', about, 'list', exampleCreate)

  const exampleFile = `create shop --address ${exampleAddress} --config link.json`
  withConfigFlags(change('create', createAccount, exampleCreate, exampleFile))
    .description('create an account with an address and the tokens that it accepts')
    .argument('<handle>', handleHelp)
    .requiredOption('--address <address>', addressHelp, parseAddress)
  add('list', listAccounts, 'list --json').description('list all accounts')
  add('show', showAccount, 'show shop').description('show one account').argument('<handle>', handleHelp)
  withConfigFlags(change('change', changeAccount, `change shop --address ${exampleAddress}`, 'change shop --config -'))
    .description('replace the address of an account, its whole link configuration, or both')
    .argument('<handle>', handleHelp)
    .option('--address <address>', addressHelp, parseAddress)
  change('remove', removeAccount, 'remove shop').description('remove an account').argument('<handle>', handleHelp)
}

function withConfigFlags(command: Command): Command {
  return command
    .option('--config <file>', 'JSON file with the link configuration; - reads standard input')
    .option(
      '--accept <chainId:symbols>',
      'accepted tokens of a chain, such as 137:USDC,USDT; may be repeated',
      parseAcceptedTokens,
    )
    .option(
      '--default-address <chainId:address>',
      'address that is paid on that chain instead; may be repeated',
      parseChainAddress,
    )
    .option('--redirect <url>', 'send the payer to this URL after the payment')
    .option('--close-after <duration>', 'close the payment window this long after the payment', parseDuration)
}

type AccountOptions = OperateOptions & LinkConfigFlags & Options<'address', string>

async function createAccount(handle: string, options: AccountOptions & { address: string }, io: Io): Promise<ExitCode> {
  const { address } = options
  const config = await readLinkConfig(options, io)
  if (config === undefined)
    throw new UsageError('Pass the accepted tokens: --accept <chainId>:<SYMBOL>, or --config <file>.')
  return withService({ ...options, mayCreate: true }, io, async ({ accounts }, report, { chains }) => {
    const account = await accounts.create({ handle, address, config })
    report({ event: 'account.created', account }, () => [`Created ${account.handle}.`, ...accountText(account)])
    for (const warning of await tokenWarnings(account.config, chains)) io.err(warning)
  })
}

async function changeAccount(handle: string, options: AccountOptions, io: Io): Promise<ExitCode> {
  const { address } = options
  const config = await readLinkConfig(options, io)
  if (address === undefined && config === undefined)
    throw new UsageError('Pass a change: --address, --accept or --config.')
  const change = { ...(address !== undefined && { address }), ...(config !== undefined && { config }) }
  return withService(options, io, async ({ accounts }, report, { chains }) => {
    const account = await accounts.change(handle, change)
    report({ event: 'account.changed', account }, () => [`Changed ${account.handle}.`, ...accountText(account)])
    if (config === undefined) return
    for (const warning of await tokenWarnings(account.config, chains)) io.err(warning)
  })
}

const listAccounts = operate(async ({ accounts }, { report }) => {
  report.all(
    await accounts.list(),
    (account) => ({ event: 'account', account }),
    (all) => all.map(accountLine),
    'There is no account yet; run accounts create to make one.',
  )
})

const showAccount = operate(async ({ accounts }, { report }, handle: string) => {
  const account = await accounts.get(handle)
  report({ event: 'account', account }, () => [account.handle, ...accountText(account)])
})

/** Removes an account and prints its last state, so that an operator can undo a mistake. */
const removeAccount = operate(async ({ accounts }, { report }, handle: string) => {
  const account = await accounts.get(handle)
  await accounts.remove(handle)
  report({ event: 'account.removed', account }, () => [`Removed ${account.handle}. It was:`, ...accountText(account)])
})

function accountLine({ handle, address, config }: AccountRecord): string {
  const accepted = config.coins.map(
    ({ chainId, tokens }) => `${chainId}: ${tokens.map(({ symbol }) => symbol).join(', ')}`,
  )
  return `${handle}  ${address}  ${accepted.length === 0 ? 'accepts nothing' : accepted.join('; ')}`
}

function accountText({ address, config }: AccountRecord): string[] {
  const [first = 'nothing', ...more] = config.coins.map(coinText)
  return [
    `  Address  ${address}`,
    `  Accepts  ${first}`,
    ...more.map((coin) => `           ${coin}`),
    `  Then     ${actionText(config.onCompleteAction)}`,
  ]
}

function coinText({ chainId, tokens, defaultAddress }: LinkConfig['coins'][number]): string {
  const names = tokens.map(({ symbol, address }) => (address === undefined ? symbol : `${symbol} (${address})`))
  return `${chainId}: ${names.join(', ')}${defaultAddress === undefined ? '' : `, paid to ${defaultAddress}`}`
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

type LinkConfig = AccountInput['config']

/** `closeAfter`: the time from the payment until the payer's window closes, in milliseconds. */
export type LinkConfigFlags = Options<'config' | 'redirect', string> &
  Options<'accept', readonly AcceptedTokens[]> &
  Options<'defaultAddress', readonly ChainAddress[]> &
  Options<'closeAfter', number>

/** Builds the configuration that the options describe; undefined without options. The service checks it. */
export async function readLinkConfig(flags: LinkConfigFlags, io: Io): Promise<LinkConfig | undefined> {
  const { config, accept, defaultAddress, redirect, closeAfter } = flags
  const hasOtherFlags = defaultAddress !== undefined || redirect !== undefined || closeAfter !== undefined
  if (config !== undefined) {
    if (accept !== undefined || hasOtherFlags)
      throw new UsageError(
        '--config holds a whole configuration; omit --accept, --default-address, --redirect and --close-after.',
      )
    return (await readJson(config, io)) as LinkConfig
  }
  if (redirect !== undefined && closeAfter !== undefined)
    throw new UsageError('--redirect and --close-after exclude each other; omit one of them.')
  if (accept === undefined) {
    if (!hasOtherFlags) return undefined
    throw new UsageError(
      '--default-address, --redirect and --close-after need the accepted tokens; add them with --accept.',
    )
  }
  const coins = buildCoins(accept, defaultAddress ?? [])
  if (redirect !== undefined) return { coins, onCompleteAction: { type: 'REDIRECT', payload: { url: redirect } } }
  if (closeAfter === undefined) return { coins }
  return { coins, onCompleteAction: { type: 'CLOSE_WINDOW', payload: { delayMilliseconds: closeAfter } } }
}

function buildCoins(accept: readonly AcceptedTokens[], addresses: readonly ChainAddress[]): LinkConfig['coins'] {
  const symbols = new Map<number, Set<string>>()
  for (const each of accept) symbols.set(each.chainId, new Set([...(symbols.get(each.chainId) ?? []), ...each.symbols]))
  const byChain = new Map(addresses.map(({ chainId, address }) => [chainId, address]))
  if (byChain.size < addresses.length)
    throw new UsageError('--default-address names a chain twice; name each chain once.')
  const other = [...byChain.keys()].find((chainId) => !symbols.has(chainId))
  if (other !== undefined)
    throw new UsageError(
      `--default-address names chain ${other}, which has no accepted tokens; add them with --accept.`,
    )
  return [...symbols].map(([chainId, names]) => {
    const defaultAddress = byChain.get(chainId)
    const tokens = [...names].map((symbol) => ({ symbol }))
    return { chainId, ...(defaultAddress !== undefined && { defaultAddress }), tokens }
  })
}

/** Limit of a configuration file, far above the size of any real one. */
const maxMiB = 4

/** Reads a JSON document in UTF-8. @throws UsageError `ERR_USAGE` without the content. */
async function readJson(source: string, io: Pick<Io, 'input' | 'signal'>): Promise<unknown> {
  const name = formatInputName(source)
  const bytes = await readInput(source, io, maxMiB)
  if (!isUtf8(bytes)) throw new UsageError(`${name} is not text in UTF-8.`)
  try {
    return parseForeignJson(bytes)
  } catch (error) {
    const [, position] = / at position (\d+)/.exec((error as Error).message) ?? []
    throw new UsageError(
      `${name} is not JSON${position === undefined ? '' : `: see character ${Number(position) + 1}`}.`,
    )
  }
}

/**
 * Warns about each symbol that has no address and is no listed token of the chain, so that a typo is found early.
 * The listed tokens are the known ones, the native token and those of `PI_TOKENS_<chainId>`, which override known ones.
 * Case matters, as in the verification of a payment.
 */
async function tokenWarnings({ coins }: LinkConfig, chains: Config['chains']): Promise<string[]> {
  const { knownTokens, getNativeToken } = await import('@payment-integration/chain-evm')
  return coins.flatMap(({ chainId, tokens }) => {
    const configured = chains.find((each) => each.chainId === chainId)?.tokens ?? []
    // The last entry of an address wins, so that the configuration overrides known tokens.
    const knownTokenList = [getNativeToken(chainId), ...knownTokens(chainId), ...configured]
    const listed = [...new Map(knownTokenList.map(({ address: at, symbol }) => [at, symbol])).values()]
    return tokens
      .filter(({ symbol, address }) => address === undefined && !listed.includes(symbol))
      .map(
        ({ symbol }) =>
          `Warning: ${chainId}:${symbol} is not a known or configured token, so payments in it cannot be verified. ` +
          `Correct the symbol, or list the token in PI_TOKENS_${chainId}, on the server too.`,
      )
  })
}
