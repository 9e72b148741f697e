/** Makes hostile text safe to show: escapes invisible characters and cuts long text. @module */

/** Characters that are invisible or change the direction of text, except line breaks and tabs. */
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu

const maxCharacters = 200

/** Text for a page: escapes invisible characters, as in `\u{202e}`, and cuts the text after `max` characters. */
export function showText(text: string, max = maxCharacters): string {
  const start = text.length > max ? text.slice(0, max) : text
  const visible = start.replace(invisible, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)
  const omitted = text.length - start.length
  return omitted === 0 ? visible : `${visible}… [${formatNumber(omitted)} more characters]`
}

export function formatNumber(value: number): string {
  return value.toLocaleString('en-US')
}

/** Such as `1 payment` and `2 payments`. */
export const formatCount = (count: number, noun: string) => `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`

export function shortenHex(hex: string): string {
  return hex.length <= 14 ? hex : `${hex.slice(0, 8)}…${hex.slice(-4)}`
}

const chainNames: Readonly<Record<number, string>> = {
  1: 'Ethereum',
  10: 'OP Mainnet',
  56: 'BNB Chain',
  100: 'Gnosis',
  137: 'Polygon',
  8453: 'Base',
  31337: 'Local',
  42161: 'Arbitrum',
}

/** The number of a chain, and the name of a well-known chain. */
export const nameChain = (chainId: number | string) => `${chainId} ${chainNames[Number(chainId)] ?? ''}`.trim()

/** A duration in its two largest units. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  const units = [
    [86_400, 'd', 3_600, 'h'],
    [3_600, 'h', 60, 'min'],
    [60, 'min', 1, 's'],
  ] as const
  for (const [size, name, part, smaller] of units)
    if (seconds >= size) {
      const remainder = Math.floor((seconds % size) / part)
      return `${Math.floor(seconds / size)} ${name}${remainder === 0 ? '' : ` ${remainder} ${smaller}`}`
    }
  return `${seconds} s`
}

export function formatLatency(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)} s`
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${formatNumber(Math.round(ms))} ms`
}
