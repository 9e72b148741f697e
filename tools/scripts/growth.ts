/** Tests that processor time grows no faster than the length of a hostile text. @module */
import { expect, test } from 'vitest'

/** Reads a text, or rejects it by throwing. */
export type Reader = (text: string) => unknown

type Work = () => unknown

/** Lengths in characters, each four times the one before. */
const usualLengths = [4_096, 16_384, 65_536, 262_144, 1_048_576] as const
/** Shorter times are noise. Quadratic work on the longest text takes a thousand times as long. */
const noiseUs = 5_000
/** For 16 times the text, two steps, linear work takes 16 times as long and quadratic work 256 times. */
const maxPerTwoSteps = 80
const rounds = 5
/** How many texts are measured at every length: those that are slowest at the shortest length. */
const slowestTexts = 3

/** Parts to repeat: the texts that patterns and loops of parsers look for. */
export const usualParts: readonly string[] = [
  ...'aA09 \t\n./\\"\':;,=@-+%#?',
  ...'\\" "\\ :// a:// a: a@ @a a. a/ 0. .0 %2 %25 %2e /. /.. [ [] {"a": "a":0, a= v1= ,v1= 0x 1e e+ !@ &a= < -00 0xff'.split(
    ' ',
  ),
  ...['=, ', '; ', '\0', '\u0301', '\u200b', '\u00e9', '\ud800', '\u{1f600}', 'block ', 'revert ', '    at '],
]

/**
 * Checks each reader with every part repeated: alone, after each of `begins`, and before an end that nothing accepts.
 * @param options.lengths - For readers that reject longer texts unread: at least three lengths, each four times the one
 * before.
 */
export function testGrowth(
  readers: Readonly<Record<string, Reader>>,
  options: {
    readonly begins?: readonly string[]
    readonly parts?: readonly string[]
    readonly lengths?: readonly number[]
  } = {},
): void {
  const begins = ['', ...(options.begins ?? [])]
  for (const [name, read] of Object.entries(readers))
    test(`time grows with the length of the text for ${name}`, async () => {
      const parts = [...usualParts, ...(options.parts ?? [])]
      expect(await findFastestGrowth(read, begins, parts, options.lengths)).toBeNull()
    })
}

/** A text for which the time grows faster than its length, with what was measured; null when there is none. */
export async function findFastestGrowth(
  read: Reader,
  begins: readonly string[],
  parts: readonly string[],
  lengths: readonly number[] = usualLengths,
) {
  const makers = begins.flatMap((begin) =>
    parts.flatMap((part) =>
      ['', '\u0001'].map((end) => (length: number) => `${begin}${part.repeat(Math.ceil(length / part.length))}${end}`),
    ),
  )
  const timed: { make: (length: number) => string; time: number }[] = []
  for (const make of makers) {
    const text = make(lengths[0] ?? 0)
    timed.push({ make, time: await getTime(() => read(text)) })
  }
  timed.sort((a, b) => b.time - a.time)
  for (const { make } of timed.slice(0, slowestTexts)) {
    const growth = await measureGrowth((length) => {
      const text = make(length)
      return () => read(text)
    }, lengths)
    if (growth !== null) return `${JSON.stringify(make(20))}: ${growth}`
  }
  return null
}

/**
 * Resolves the measured times if they grow faster than the length, else null. The shortest time of several rounds
 * counts, so that a busy machine makes no difference. Ends at the first length that is too slow.
 * @param prepare - Returns the work on a text of a length. Only this work is measured.
 */
export async function measureGrowth(
  prepare: (length: number) => Work | Promise<Work>,
  lengths: readonly number[] = usualLengths,
): Promise<string | null> {
  const times: number[] = []
  for (const [step, length] of lengths.entries()) {
    const work = await prepare(length)
    const before = times[step - 2]
    const limit = before === undefined ? Number.POSITIVE_INFINITY : maxPerTwoSteps * Math.max(noiseUs, before)
    let best = Number.POSITIVE_INFINITY
    for (let round = 0; round < rounds && (round === 0 || best > limit); round++)
      best = Math.min(best, await getTime(work))
    times.push(best)
    if (best > limit) return `${lengths.slice(0, times.length).join(', ')} characters took ${times.join(', ')} µs`
  }
  return null
}

/** Microseconds of processor time. */
async function getTime(work: Work): Promise<number> {
  const before = process.cpuUsage()
  try {
    await work()
  } catch {
    // Rejecting such a text is fine; its time counts.
  }
  const { user, system } = process.cpuUsage(before)
  return user + system
}
