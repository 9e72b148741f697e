/** Which notification URLs are accepted. Source: INTERFACE 6 (HTTPS), DESIGN section 3 (redirects and addresses). @module */
import { InvalidRequestError } from '../errors.js'

const privateSuffixes = ['.local', '.internal', '.localhost', '.home.arpa', '.onion']
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Checks a notification URL when it is registered; the connection checks the address again on every send.
 * @param allowLoopbackHttp - Dev only: also accept `http:` to this machine.
 * @returns The normalised URL.
 * @throws InvalidRequestError `ERR_URL_INVALID`, saying which rule was broken.
 */
export function parseNotificationUrl(text: string, allowLoopbackHttp: boolean): string {
  if (text.length > 2_048) throw invalid('it is longer than 2048 characters')
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw invalid('it is not a URL')
  }
  if (url.username !== '' || url.password !== '')
    throw invalid('it holds credentials; the signature authenticates deliveries')
  if (url.hash !== '') throw invalid('it has a fragment, which is never sent')
  if (allowLoopbackHttp && url.protocol === 'http:' && loopbackHosts.has(url.hostname)) return url.href
  if (url.protocol !== 'https:') throw invalid('it must be https (http to this machine is for development only)')
  if (isIpLiteral(url.hostname)) throw invalid('its host is an IP address; use a public DNS name')
  if (!isPublicName(url.hostname)) throw invalid('its host is not a public DNS name')
  return url.href
}

function isIpLiteral(host: string): boolean {
  return host.startsWith('[') || /^[0-9.]+$/.test(host)
}

function isPublicName(host: string): boolean {
  const labels = host.split('.')
  if (labels.length < 2 || labels.some((label) => !/^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label))) return false
  return host.length <= 253 && !privateSuffixes.some((suffix) => host.endsWith(suffix))
}

function invalid(why: string): InvalidRequestError {
  return new InvalidRequestError('ERR_URL_INVALID', `The notification URL is refused: ${why}.`)
}
