/** Draws bars on a logarithmic axis as SVG, in the light or dark colours of the page that shows it. @module */

/** A bar. */
export interface Bar {
  readonly label: string
  readonly value: number
  /** Ours, drawn in colour. */
  readonly isOurs: boolean
}

/** A picture. */
export interface BarChart {
  readonly title: string
  /** What the bars measure, and which end is better. */
  readonly unit: string
  readonly bars: readonly Bar[]
}

const [width, labelWidth, barHeight, top] = [760, 250, 26, 64]
const plotWidth = width - labelWidth - 90
const style = `text{font:14px system-ui,sans-serif;fill:#1f2430}.t{font-size:17px;font-weight:600}.u,.k{fill:#5b6270;font-size:12px}
.g{stroke:#d9dce3}.o{fill:#2f6fde}.p{fill:#a9b0bd}.b{fill:#fff}
@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.u,.k{fill:#9aa3b2}.g{stroke:#333a47}.o{fill:#6ea0ff}.p{fill:#5c6575}.b{fill:#11151c}}`

/** The picture. A value of 0 or less cannot be on the axis. @throws RangeError */
export function barChart({ title, unit, bars }: BarChart): string {
  for (const { label, value } of bars)
    if (!(value > 0)) throw new RangeError(`${label} has the value ${value}, which a logarithmic axis cannot show.`)
  const values = bars.map(({ value }) => value)
  const ticks = ticksOf(Math.min(...values), Math.max(...values))
  const [from = 1, to = 10] = [ticks[0], ticks.at(-1)]
  const x = (value: number) => Math.round(labelWidth + (Math.log(value / from) / Math.log(to / from)) * plotWidth)
  const bottom = top + bars.length * barHeight
  const described = bars.map(({ label, value }) => `${label}: ${shown(value)}`).join('; ')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 34}" role="img" aria-labelledby="t d">`,
    `<title id="t">${escaped(title)}</title><desc id="d">${escaped(`${unit}. ${described}`)}</desc>`,
    `<style>${style}</style>`,
    `<rect class="b" width="${width}" height="${bottom + 34}"/>`,
    `<text class="t" x="16" y="28">${escaped(title)}</text><text class="u" x="16" y="48">${escaped(unit)}</text>`,
    ...ticks.map(
      (tick) =>
        `<line class="g" x1="${x(tick)}" x2="${x(tick)}" y1="${top - 4}" y2="${bottom}"/><text class="k" x="${x(tick)}" y="${bottom + 18}" text-anchor="middle">${shown(tick)}</text>`,
    ),
    ...bars.map(({ label, value, isOurs }, at) => {
      const y = top + at * barHeight
      const length = Math.max(2, x(value) - labelWidth)
      return [
        `<text x="${labelWidth - 10}" y="${y + 17}" text-anchor="end">${escaped(label)}</text>`,
        `<rect class="${isOurs ? 'o' : 'p'}" x="${labelWidth}" y="${y + 4}" width="${length}" height="${barHeight - 8}" rx="2"/>`,
        `<text x="${labelWidth + length + 8}" y="${y + 17}">${shown(value)}</text>`,
      ].join('')
    }),
    '</svg>',
    '',
  ].join('\n')
}

/** 1, 2 and 5 of every power of ten around the values; the first is below the least, so that each bar has a length. */
function ticksOf(least: number, most: number): number[] {
  const all = Array.from({ length: 16 }, (_, n) => n - 6).flatMap((power) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${power}`)),
  )
  const first = all.findLastIndex((tick) => tick < least * 0.999)
  const last = all.findIndex((tick) => tick >= most)
  return all.slice(first, last + 1)
}

function shown(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value >= 1_000 ? 6 : 3 })
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
