/** Decides which notification URLs are accepted. Source: docs/decisions/redirects-and-addresses.md. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import { InvalidParameterError } from '../errors.js'

export const notificationPorts: readonly number[] = [443, 8_443]

export interface NotificationUrlRule {
  /** Dev only: this machine is accepted by `http:` and `https:`, at any port. */
  readonly allowLoopbackHttp: boolean
  /** Ports of `https:` URLs. @default notificationPorts */
  readonly ports?: readonly number[] | undefined
  /** Whether the operator denies an address, given without brackets. A host name is checked at the connection. */
  readonly isDeniedAddress?: ((address: string) => boolean) | undefined
}

/** The longest URL, in characters, as given and as normalized. */
const maxLength = 2_048
/** Names that DNS does not delegate, or that mean something else on each network. */
const privateNames = 'alt arpa corp home internal intranet invalid lan local localhost mail onion private'.split(' ')

/** Checks a URL at registration and before every attempt; `ERR_URL_INVALID` says which rule was broken. */
export function checkNotificationUrl(text: string, rule: NotificationUrlRule): URL {
  const { allowLoopbackHttp, ports = notificationPorts, isDeniedAddress } = rule
  if (text.length > maxLength) throw invalid(`it is longer than ${maxLength} characters`)
  // URL parsers drop or replace these, so two parsers could read different hosts.
  if (/[\s\\\p{Cc}]/u.test(text)) throw invalid('it holds a space, a control character or a backslash')
  if (text.includes('#')) throw invalid('it has a fragment, which is never sent')
  const authority = /^https?:\/\/([^/?]+)/i.exec(text)?.[1]
  if (authority === undefined)
    throw invalid('it must begin with https:// and a host (http to this machine is for development only)')
  if (authority.includes('@')) throw invalid('it holds credentials; the signature authenticates deliveries')
  if (authority.includes('%')) throw invalid('its host is percent-encoded')
  const url = parseUrl(text)
  if (url === null) throw invalid('it is not a URL')
  if (url.href.length > maxLength) throw invalid(`it is longer than ${maxLength} characters when encoded`)
  if (isIpLiteral(url.hostname) && isDeniedAddress?.(url.hostname.replace(/^\[|\]$/g, '')))
    throw invalid('its host is an address that the operator denies')
  if (allowLoopbackHttp && isThisMachine(url.hostname) && url.port !== '0') return url
  if (url.protocol !== 'https:') throw invalid('it must be https (http to this machine is for development only)')
  if (isIpLiteral(url.hostname)) throw invalid('its host is an IP address; use a public DNS name')
  if (!isPublicName(url.hostname)) throw invalid('its host is not a public DNS name')
  if (!ports.includes(Number(url.port || 443))) throw invalid(`its port is not one of ${ports.join(', ')}`)
  return url
}

/** Checks a notification URL when it is registered, and returns its normalized form; null stays null. */
export function parseNotificationUrl(text: string | null, rule: NotificationUrlRule): string | null {
  return text === null ? null : checkNotificationUrl(text, rule).href
}

const isThisMachine = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.[0-9]+){3}$/.test(host)

const isIpLiteral = (host: string): boolean => host.startsWith('[') || /^[0-9.]+$/.test(host)

function isPublicName(host: string): boolean {
  const labels = host.split('.')
  if (labels.length < 2 || labels.some((label) => !/^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label))) return false
  return host.length <= 253 && !privateNames.includes(labels.at(-1) ?? '')
}

const invalid = (why: string) =>
  new InvalidParameterError('ERR_URL_INVALID', `The notification URL is rejected: ${why}.`)
