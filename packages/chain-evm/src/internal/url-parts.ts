/** A node's URL, split into where to connect and what to say there. @module */

/** The parts of a URL. */
export interface UrlParts {
  /** Without credentials and fragment. */
  readonly url: URL
  /** The credentials as a Basic header; empty without any. */
  readonly headers: Readonly<Record<string, string>>
}

/** Takes the credentials out of a URL that was checked before. */
export function splitUrl(text: string): UrlParts {
  const url = new URL(text)
  url.hash = ''
  const { username, password } = url
  if (username === '' && password === '') return { url, headers: {} }
  const pair = `${unescaped(username)}:${unescaped(password)}`
  url.username = ''
  url.password = ''
  return { url, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } }
}

/** Decodes percent signs; returns the text itself when they are malformed. */
export function unescaped(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Labels that a provider may have put a key into: long ones in front of its domain. */
export function secretLabels(hostname: string): string[] {
  return hostname
    .split('.')
    .slice(0, -2)
    .filter((label) => label.length >= SECRET_LABEL_LENGTH)
}

/** Shorter labels, such as `rpc` or `mainnet`, are too short for a key. */
const SECRET_LABEL_LENGTH = 8
