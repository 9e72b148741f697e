/** Follows the page's stream, and changes rows in place; while one reads further down it only counts. @module */
import { reload } from './reload.js'
import { placeRow } from './rows.js'

/** Distance from the top, in pixels, from which on changes wait. */
const awayPx = 160
/** Least time from one reload of a busy list to the next, in milliseconds. */
const reloadRestMs = 10_000

/**
 * Follows the stream that `data-live` names. `onCharts` gets the series of the overview.
 * @returns The function that loads the rows again and ends a pause.
 */
export function followLive(onCharts: (data: unknown) => void): () => void {
  const topic = document.body.dataset['live']
  const button = document.getElementById('live')
  if (topic === undefined || button === null) return () => void reload()
  const waiting = new Map<string, () => void>()
  let isPaused = false
  let isConnected = false

  /** Changes wait for the page that is on its way, which may lack them. */
  let isReloading = false

  const isAway = () => isPaused || window.scrollY > awayPx
  const isWaiting = () => isReloading || isAway()
  const show = () => {
    button.hidden = false
    button.className = !isConnected ? 'live off' : isAway() ? 'live paused' : 'live'
    const changes = waiting.size === 1 ? '1 change' : `${waiting.size} changes`
    button.textContent = !isConnected
      ? 'connecting'
      : isAway()
        ? `paused${waiting.size > 0 ? `, ${changes}` : ''}`
        : 'live'
  }
  const apply = (key: string, change: () => void) => {
    if (isWaiting()) waiting.set(key, change)
    else change()
    show()
  }
  const flush = () => {
    if (!isWaiting()) {
      for (const change of waiting.values()) change()
      waiting.clear()
    }
    show()
  }

  const refresh = async () => {
    waiting.clear()
    isReloading = true
    await reload()
    isReloading = false
    flush()
  }

  let restsUntil = 0
  let isPlanned = false
  const refreshRested = () => {
    if (isPlanned) return
    isPlanned = true
    setTimeout(
      () => {
        isPlanned = false
        restsUntil = performance.now() + reloadRestMs
        apply('stale', () => void refresh())
      },
      Math.max(0, restsUntil - performance.now()),
    )
  }

  const source = new EventSource(`/console/live?${topic}`)
  source.addEventListener('open', () => {
    isConnected = true
    show()
  })
  source.addEventListener('error', () => {
    isConnected = false
    show()
  })
  source.addEventListener('row', ({ data }) => {
    const { html, matches } = JSON.parse(data) as { html: string; matches: boolean }
    const row = rowOf(html)
    if (row !== null)
      apply(row.dataset['key'] ?? '', () => {
        if (!placeRow(row, matches) && matches) void refresh()
      })
  })
  source.addEventListener('stale', refreshRested)
  source.addEventListener('overview', ({ data }) => {
    const { parts, charts } = JSON.parse(data) as { parts: Record<string, string>; charts: unknown }
    apply('overview', () => {
      for (const [id, html] of Object.entries(parts)) replacePart(id, html)
      onCharts(charts)
    })
  })
  source.addEventListener('parts', ({ data }) => {
    for (const [id, html] of Object.entries(JSON.parse(data) as Record<string, string>)) replacePart(id, html)
  })
  button.addEventListener('click', () => {
    // What the button says counts: the page may have scrolled since.
    isPaused = !button.classList.contains('paused')
    if (!isPaused) window.scrollTo({ top: 0 })
    flush()
  })
  document.addEventListener('scroll', flush, { passive: true })
  addEventListener('pagehide', () => source.close())
  return () => {
    isPaused = false
    window.scrollTo({ top: 0 })
    void refresh()
  }
}

/** The server escaped the row's text. */
function rowOf(html: string): HTMLTableRowElement | null {
  const template = document.createElement('template')
  template.innerHTML = html
  return template.content.querySelector('tr')
}

function replacePart(id: string, html: string): void {
  const part = document.getElementById(id)
  if (part !== null && !part.contains(document.activeElement)) part.innerHTML = html
}
