/** Parses link configurations. Source: docs/interface.md 2.4 (link configuration). @module */
import {
  type CoinConfig,
  type LinkConfig,
  linkConfigWriteSchema,
  type OnCompleteAction,
} from '@payment-integration/contract'

/** The configuration, or the wrong field and its flaw, without its value. */
export type LinkConfigResult = { readonly config: LinkConfig } | { readonly problem: string }

/** Parses a link configuration strictly: no unknown field, within limits, addresses lowercased. */
export function parseLinkConfig(input: unknown): LinkConfigResult {
  const parsed = linkConfigWriteSchema.safeParse(input)
  if (parsed.success) return { config: copyLinkConfig(parsed.data) }
  const issue = parsed.error.issues[0]
  return { problem: issue === undefined ? 'config is invalid' : describeIssue(issue) }
}

type Issue = NonNullable<ReturnType<typeof linkConfigWriteSchema.safeParse>['error']>['issues'][number]

function describeIssue(issue: Issue): string {
  const where = ['config', ...issue.path.map(String)].join('.')
  switch (issue.code) {
    case 'unrecognized_keys':
      return `${where} has ${issue.keys.length} field(s) that a link configuration does not have`
    case 'invalid_union':
      return `${where}: expected NOTHING, REDIRECT or CLOSE_WINDOW`
    case 'invalid_type':
      return `${where}: expected ${issue.expected}`
    default:
      return `${where}: ${issue.message}`
  }
}

function copyLinkConfig({ coins, onCompleteAction }: LinkConfig): LinkConfig {
  return {
    coins: coins.map(copyCoin),
    ...(onCompleteAction === undefined ? {} : { onCompleteAction: copyAction(onCompleteAction) }),
  }
}

function copyCoin({ chainId, defaultAddress, tokens }: CoinConfig): CoinConfig {
  return {
    chainId,
    ...(defaultAddress === undefined ? {} : { defaultAddress: defaultAddress.toLowerCase() }),
    tokens: tokens.map(({ symbol, address }) => ({
      symbol,
      ...(address === undefined ? {} : { address: address.toLowerCase() }),
    })),
  }
}

function copyAction(action: OnCompleteAction): OnCompleteAction {
  switch (action.type) {
    case 'NOTHING':
      return { type: action.type }
    case 'REDIRECT':
      return { type: action.type, payload: { url: action.payload.url } }
    case 'CLOSE_WINDOW':
      return { type: action.type, payload: { delayMilliseconds: action.payload.delayMilliseconds } }
  }
}
