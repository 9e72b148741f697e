/**
 * Random addresses inside and outside of the special ranges. The ranges are written down here from the registries of
 * IANA (special-purpose addresses of IPv4 and IPv6), not taken from the code under test.
 */

/** A source of numbers in [0, 1). */
type Fraction = () => number
/** A range: its bits from the left, and how many of them count. */
interface Range {
  readonly bits: bigint
  readonly length: number
}

/** Special ranges of IPv4, and Azure's wire server. */
const ranges4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map((text) => {
  const [address = '', length = ''] = text.split('/')
  return range(address.split('.').map(Number), 8, Number(length), 32)
})

/** Special ranges of IPv6 inside 2000::/3; everything outside of it is special as well. */
const ranges6 = [
  range([0x2001, 0], 16, 23, 128),
  range([0x2001, 0xdb8], 16, 32, 128),
  range([0x2002], 16, 16, 128),
  range([0x2620, 0x4f, 0x8000], 16, 48, 128),
  range([0x3fff], 16, 20, 128),
]
const outside6 = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n]
  .filter((top) => top !== 1n)
  .map((top) => ({ bits: top << 125n, length: 3 }))
const special6 = [
  range([0xfc00], 16, 7, 128),
  range([0xfe80], 16, 10, 128),
  range([0xfec0], 16, 10, 128),
  range([0xff00], 16, 8, 128),
  range([0x100], 16, 64, 128),
  range([0x5f00], 16, 16, 128),
]

/** How IPv6 carries an IPv4 address (32 bits), with random bits where the form has room. */
const carriers: readonly ((v4: bigint, fraction: Fraction) => bigint)[] = [
  (v4) => (0xffffn << 32n) | v4, // mapped
  (v4) => v4, // compatible
  (v4) => (0xffff0000n << 32n) | v4, // translated
  (v4) => (0x64ff9bn << 96n) | v4, // NAT64
  (v4) => (0x64ff9b0001n << 80n) | v4, // NAT64 of a network of its own, 96 bits before the address
  (v4) => (0x64ff9b0001n << 80n) | ((v4 >> 16n) << 64n) | ((v4 & 0xffffn) << 40n), // the same with 48 bits before it
  (v4, fraction) => (0x2002n << 112n) | (v4 << 80n) | random(80, fraction), // 6to4
  (v4, fraction) => (0x20010000n << 96n) | (v4 << 64n) | random(64, fraction), // Teredo, the server's address
  (v4, fraction) => (0x20010000n << 96n) | (random(64, fraction) << 32n) | (v4 ^ 0xffffffffn), // Teredo, the client's
  (v4, fraction) => isatap(v4, fraction, 0x00005efen),
  (v4, fraction) => isatap(v4, fraction, 0x02005efen),
]

/** An address of a special range: as IPv4, carried by IPv6, or of IPv6 itself; in a random spelling. */
export function blockedAddress(fraction: Fraction): string {
  const kind = fraction()
  if (kind < 0.1) return dotted(within(pick(ranges4, fraction), 32, fraction))
  if (kind < 0.7) {
    const v4 = within(pick(ranges4, fraction), 32, fraction)
    return spell6(pick(carriers, fraction)(v4, fraction), fraction)
  }
  if (kind < 0.9) return spell6(within(pick([...ranges6, ...special6], fraction), 128, fraction), fraction)
  return spell6(within(pick(outside6, fraction), 128, fraction), fraction)
}

/** An address of the public internet, of either family or translated by NAT64, in a random spelling. */
export function publicAddress(fraction: Fraction): string {
  for (;;) {
    if (fraction() < 0.5) {
      const v4 = random(32, fraction)
      if (ranges4.some((each) => holds(each, v4, 32))) continue
      return fraction() < 0.3 ? spell6((0x64ff9bn << 96n) | v4, fraction) : dotted(v4)
    } else {
      const v6 = (1n << 125n) | random(125, fraction)
      const isIsatap = ((v6 >> 32n) & 0xfdffffffn) === 0x5efen
      if (!isIsatap && !ranges6.some((each) => holds(each, v6, 128))) return spell6(v6, fraction)
    }
  }
}

function range(parts: readonly number[], width: number, length: number, size: number): Range {
  const bits = parts.reduce((sum, part) => (sum << BigInt(width)) | BigInt(part), 0n)
  return { bits: bits << BigInt(size - parts.length * width), length }
}
function holds({ bits, length }: Range, value: bigint, size: number): boolean {
  const rest = BigInt(size - length)
  return value >> rest === bits >> rest
}
function within({ bits, length }: Range, size: number, fraction: Fraction): bigint {
  // The first and the last address of a range as often as all those between them.
  const rest = size - length
  const edge = fraction()
  if (edge < 0.1) return bits
  if (edge < 0.2) return bits | ((1n << BigInt(rest)) - 1n)
  return bits | random(rest, fraction)
}
function isatap(v4: bigint, fraction: Fraction, identifier: bigint): bigint {
  return (1n << 125n) | (random(61, fraction) << 64n) | (identifier << 32n) | v4
}
function random(bits: number, fraction: Fraction): bigint {
  let value = 0n
  for (let have = 0; have < bits; have += 16) value = (value << 16n) | BigInt(Math.floor(fraction() * 65_536))
  return value & ((1n << BigInt(bits)) - 1n)
}
function pick<T>(items: readonly T[], fraction: Fraction): T {
  return items[Math.floor(fraction() * items.length)] as T
}
function dotted(v4: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (v4 >> shift) & 255n).join('.')
}

/** Groups with or without leading zeros, in either case, with or without `::`, and with a dotted end now and then. */
function spell6(v6: bigint, fraction: Fraction): string {
  const isPadded = fraction() < 0.2
  const groups = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => {
    const text = ((v6 >> shift) & 0xffffn).toString(16)
    return isPadded ? text.padStart(4, '0') : text
  })
  if (fraction() < 0.3) groups.splice(6, 2, dotted(v6 & 0xffffffffn))
  let text = groups.join(':')
  const run = /(?:^|:)0+(?::0+)+(?=:|$)/.exec(text)
  if (run !== null && fraction() < 0.7) {
    const before = text.slice(0, run.index)
    const after = text.slice(run.index + run[0].length).replace(/^:/, '')
    text = `${before}::${after}`
  }
  return fraction() < 0.3 ? text.toUpperCase() : text
}
