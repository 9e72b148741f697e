/** Draws the overview's charts with uPlot. A click on a bar of payments opens its rows. @module */
import uPlot from 'uplot'
import { formatInstant } from './content.js'

interface Stacked {
  readonly barMs: number
  readonly times: number[]
  readonly series: readonly { readonly name: string; readonly values: number[] }[]
}

interface ChartData {
  readonly payments: Stacked
  readonly attempts: Stacked
  readonly latency: {
    readonly dots: readonly (readonly [startedAtSeconds: number, ms: number, isGood: 0 | 1, deliveryId: string])[]
    readonly p50: number | null
    readonly p95: number | null
  }
}

/** The time limit of an attempt, at which the latency chart has a line. */
const attemptTimeoutMs = 5_000
const readColor = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
const tones: Readonly<Record<string, string>> = {
  success: '--good',
  delivered: '--good',
  pending: '--wait',
  no_state: '--plain',
  failure: '--bad',
  server_error: '--bad',
  client_error: '--warn',
  timeout: '--violet',
  no_answer: '--dim',
  redirect: '--rust',
  refund_pending: '--warn',
  refund_success: '--violet',
  refund_failure: '--bad',
}

/** Draws the charts; null on pages without charts. */
export function drawCharts(): { update(data: unknown): void; redraw(): void } | null {
  const holder = document.getElementById('chart-data')
  if (holder === null) return null
  document.documentElement.classList.add('drawn')
  let data = JSON.parse(holder.dataset['json'] ?? '{}') as ChartData
  let plots: uPlot[] = []
  const draw = () => {
    for (const plot of plots) plot.destroy()
    plots = [
      drawBars('chart-payments', data.payments),
      drawBars('chart-attempts', data.attempts),
      drawLatency('chart-latency', data),
    ].filter((plot) => plot !== null)
  }
  draw()
  let redrawTimer: ReturnType<typeof setTimeout> | undefined
  addEventListener('resize', () => {
    clearTimeout(redrawTimer)
    redrawTimer = setTimeout(draw, 150)
  })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
  return {
    redraw: draw,
    update(next) {
      data = next as ChartData
      draw()
    },
  }
}

function createAxes(): uPlot.Axis[] {
  const [text, line] = [readColor('--dim'), readColor('--line')]
  const font = '11px system-ui, sans-serif'
  const plain = { stroke: text, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } }
  return [
    { ...plain, size: 30, space: 66, grid: { show: false }, values: formatTimes },
    { ...plain, size: 48 },
  ]
}

type PlotOptions = Omit<uPlot.Options, 'width'>

/** Draws one chart in the part of the page with this id. */
function createPlot(id: string, options: PlotOptions, data: uPlot.AlignedData): uPlot | null {
  const host = document.getElementById(id)
  if (host === null) return null
  const shared = { cursor: { drag: { x: false, y: false }, y: false }, legend: { show: true, live: false } }
  const plot = new uPlot({ ...shared, ...options, width: host.clientWidth }, data, host)
  host.querySelector('canvas')?.setAttribute('aria-hidden', 'true')
  return plot
}

/** Bars on top of each other: a series is drawn at the sum of its own values and of all series below. */
function drawBars(id: string, { barMs, times, series }: Stacked): uPlot | null {
  const sums = times.map(() => 0)
  const stacked = series.map(({ values }) => values.map((value, at) => (sums[at] = (sums[at] ?? 0) + value)))
  const paths = uPlot.paths.bars?.({ size: [0.8, 24] })
  const toSeries = ({ name }: Stacked['series'][number]): uPlot.Series => {
    const color = readColor(tones[name] ?? '--plain')
    const shape = { width: 0, points: { show: false }, ...(paths && { paths }) }
    return { label: name.replaceAll('_', ' '), stroke: color, fill: color, ...shape }
  }
  const options: PlotOptions = {
    height: 180,
    scales: { x: toTimeScale(times, barMs), y: { range: (_, __, max) => [0, Math.max(4, (max ?? 0) * 1.1)] } },
    axes: createAxes(),
    series: [{ label: 'time' }, ...series.map(toSeries).reverse()],
  }
  const plot = createPlot(id, options, [times, ...stacked.reverse()])
  plot?.over.addEventListener('click', () => {
    const start = (times[plot.cursor.idx ?? -1] ?? 0) * 1_000
    const path = plot.root.parentElement?.dataset['path']
    if (start === 0 || path === undefined) return
    location.assign(`${path}?since=${start}&until=${start + barMs}`)
  })
  return plot
}

function drawLatency(id: string, { latency: { dots, p50, p95 }, payments }: ChartData): uPlot | null {
  const times = dots.map(([time]) => time)
  // A log scale has no place for 0 ms.
  const good = dots.map(([, ms, isGood]) => (isGood === 1 ? Math.max(1, ms) : null))
  const bad = dots.map(([, ms, isGood]) => (isGood === 1 ? null : Math.max(1, ms)))
  const toDots = (label: string, tone: string): uPlot.Series => {
    const color = readColor(tone)
    const points = { show: true, size: 5, width: 0, fill: color }
    return { label, stroke: color, fill: color, paths: () => null, points }
  }
  const drawLines = (chart: uPlot) => {
    drawLine(chart, p50, '--dim', 'p50')
    drawLine(chart, p95, '--text', 'p95', 30)
    drawLine(chart, attemptTimeoutMs, '--bad', '5 s')
  }
  const options: PlotOptions = {
    height: 220,
    scales: {
      x: toTimeScale(payments.times, payments.barMs),
      y: { distr: 3, range: (_, __, max) => [0.5, Math.max(max ?? 0, 10_000)] },
    },
    axes: createAxes().map((axis, index) => (index === 1 ? { ...axis, ...decades } : axis)),
    series: [{ label: 'time' }, toDots('succeeded', '--good'), toDots('failed', '--bad')],
    hooks: { draw: [drawLines] },
  }
  return createPlot(id, options, [times, good, bad])
}

/** The time axis of every chart. It has space at both ends, because a bar is centered on its time. */
const toTimeScale = (times: readonly number[], barMs: number): uPlot.Scale => ({
  time: true,
  range: [(times[0] ?? 0) - barMs / 2_000, (times.at(-1) ?? 0) + barMs / 1_000],
})

function drawLine(plot: uPlot, ms: number | null, tone: string, name: string, inset = 0): void {
  if (ms === null) return
  const { ctx, bbox } = plot
  const y = Math.round(plot.valToPos(Math.max(1, ms), 'y', true))
  if (y < bbox.top || y > bbox.top + bbox.height) return
  ctx.save()
  ctx.strokeStyle = readColor(tone)
  ctx.fillStyle = readColor(tone)
  ctx.setLineDash([4, 4])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.textAlign = 'right'
  ctx.textBaseline = 'bottom'
  const x = bbox.left + bbox.width - (4 + inset) * devicePixelRatio
  // An edge in the color of the page keeps the name readable above dots.
  ctx.setLineDash([])
  ctx.lineWidth = 4 * devicePixelRatio
  ctx.strokeStyle = readColor('--ground')
  ctx.strokeText(name, x, y - 2)
  ctx.fillText(name, x, y - 2)
  ctx.restore()
}

/** Lines and labels only at the powers of ten. */
const decades: uPlot.Axis = {
  splits: (_, __, min, max) => [1, 10, 100, 1_000, 10_000, 100_000].filter((ms) => ms >= min && ms <= max),
  filter: (_, ticks) => ticks,
  values: (_, ticks) => ticks.map(formatLatency),
}
/** Shows only the date if the labels are a day apart, else only the time. */
const formatTimes: uPlot.Axis.DynamicValues = (_, times, __, ___, step) =>
  times.map((seconds) => {
    const iso = formatInstant(seconds * 1_000)
    return step >= 86_400 ? iso.slice(5, 10) : iso.slice(11, step < 60 ? 19 : 16)
  })
const formatLatency = (ms: number) => (ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`)
