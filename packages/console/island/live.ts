/** Follows the page's stream and changes rows in place. While the page is scrolled down, changes wait. @module */
import { isTyping, reload } from './content.js'

/** If the page is scrolled further than this, in pixels, changes wait. */
const awayPx = 160
/** Least time from one reload of a busy list to the next, in milliseconds. */
const reloadRestMs = 30_000
/** The most changes that wait. Beyond this number the page is loaded again instead. */
const maxWaiting = 100

/**
 * Follows the stream that `data-live` names. `onCharts` gets the series of the overview.
 * @returns The function that loads the rows again and ends a pause.
 */
export function followLive(onCharts: (data: unknown) => void): () => void {
  const topic = document.body.dataset['live']
  const button = document.getElementById('live')
  if (topic === undefined || button === null) return () => void reload()
  /** Waiting changes by the key of their row. The key `stale`, a reload of the page, replaces all others. */
  const waiting = new Map<string, () => void>()
  let isPaused = false
  let isConnected = false
  /** The server reads no changes: its database does not answer. */
  let isFailing = false
  /** While the page is loaded again, changes wait: the loaded page may lack them. */
  let isReloading = false

  const isAway = () => isPaused || window.scrollY > awayPx
  const isWaiting = (key: string) => isReloading || isAway() || (key === 'stale' && isTyping())
  const pausedText = () => {
    if (waiting.size === 0) return 'paused'
    if (waiting.has('stale')) return 'paused, changed'
    return `paused, ${waiting.size} ${waiting.size === 1 ? 'change' : 'changes'}`
  }
  const show = () => {
    const isLive = isConnected && !isFailing
    button.hidden = false
    button.className = !isLive ? 'live off' : isAway() ? 'live paused' : 'live'
    const text = !isConnected ? 'connecting' : isFailing ? 'failing' : isAway() ? pausedText() : 'live'
    // A screen reader reads each text that is set.
    if (button.textContent !== text) button.textContent = text
  }
  const queue = (key: string, change: () => void) => {
    if (waiting.has('stale')) return
    if (key !== 'stale' && waiting.size < maxWaiting) return void waiting.set(key, change)
    waiting.clear()
    waiting.set('stale', () => void refresh())
  }
  const apply = (key: string, change: () => void) => {
    if (isWaiting(key)) queue(key, change)
    else change()
    show()
  }
  const flush = () => {
    for (const [key, change] of waiting)
      if (!isWaiting(key)) {
        waiting.delete(key)
        change()
      }
    show()
  }

  const refresh = async () => {
    waiting.clear()
    isReloading = true
    const isDone = await reload().catch(() => false)
    isReloading = false
    if (!isDone) refreshLater()
    flush()
  }

  let restsUntil = 0
  let isPlanned = false
  const refreshLater = () => {
    if (isPlanned) return
    isPlanned = true
    const restMs = Math.max(0, restsUntil - performance.now())
    setTimeout(() => {
      isPlanned = false
      restsUntil = performance.now() + reloadRestMs
      apply('stale', () => void refresh())
    }, restMs)
  }

  const listeners = {
    row(data: string) {
      const { html, matches } = JSON.parse(data) as { html: string; matches: boolean }
      const row = parseRow(html)
      if (row === null) return
      apply(row.dataset['key'] ?? '', () => {
        if (!placeRow(row, matches) && matches) void refresh()
      })
    },
    stale: refreshLater,
    overview(data: string) {
      const { parts, charts } = JSON.parse(data) as { parts: Record<string, string>; charts?: unknown }
      apply('overview', () => {
        replaceParts(parts)
        if (charts !== undefined) onCharts(charts)
      })
    },
    parts: (data: string) => replaceParts(JSON.parse(data) as Record<string, string>),
    failing(data: string) {
      isFailing = (JSON.parse(data) as { isFailing: boolean }).isFailing
      show()
    },
  }
  connect(topic, listeners, (isOpen) => {
    isConnected = isOpen
    show()
  })
  button.addEventListener('click', () => {
    // Uses the state that the button shows: the page may have scrolled since.
    isPaused = !button.classList.contains('paused')
    if (!isPaused) window.scrollTo({ top: 0 })
    flush()
  })
  document.addEventListener('scroll', flush, { passive: true })
  // Waits a moment, because the focus may move to another field.
  document.addEventListener('focusout', () => setTimeout(flush))
  return () => {
    isPaused = false
    window.scrollTo({ top: 0 })
    void refresh()
  }
}

/** The server escaped the row's text. */
function parseRow(html: string): HTMLTableRowElement | null {
  const template = document.createElement('template')
  template.innerHTML = html
  return template.content.querySelector('tr')
}

function replaceParts(parts: Readonly<Record<string, string>>): void {
  for (const [id, html] of Object.entries(parts)) {
    const part = document.getElementById(id)
    if (part !== null && !part.contains(document.activeElement)) part.innerHTML = html
  }
}

const maxRows = 100

/**
 * Puts the row in its place. A row older than the last row is left out if the list continues on another page.
 * @param matches - Whether it matches the filters of the page; a row that does not is removed.
 * @returns Whether the page has a list; without rows it has none.
 */
function placeRow(row: HTMLTableRowElement, matches: boolean): boolean {
  const list = document.getElementById('rows')
  if (list === null) return false
  const rows = [...list.querySelectorAll<HTMLTableRowElement>('tr')]
  const oldRow = rows.find((each) => each.dataset['key'] === row.dataset['key'])
  // A row with the focus stays unchanged, because replacing it would lose the focus.
  if (matches && oldRow?.contains(document.activeElement)) return true
  row.classList.add('changed')
  if (!matches) oldRow?.remove()
  else if (oldRow !== undefined && oldRow.dataset['order'] === row.dataset['order']) oldRow.replaceWith(row)
  else {
    oldRow?.remove()
    insert(list, row)
  }
  return true
}

function insert(list: HTMLElement, row: HTMLTableRowElement): void {
  const order = readOrder(row)
  const next = [...list.querySelectorAll<HTMLTableRowElement>('tr')].find((each) => readOrder(each) < order)
  if (next === undefined && hasOlderRows(list)) return
  list.insertBefore(row, next ?? null)
  while (list.children.length > maxRows) {
    list.lastElementChild?.remove()
    list.dataset['cut'] = ''
  }
}

const readOrder = (row: HTMLTableRowElement) => row.dataset['order'] ?? ''
/** Whether older rows are on another page, or were cut from this one. */
const hasOlderRows = (list: HTMLElement) =>
  list.dataset['cut'] !== undefined || document.querySelector('.pager a[rel=next]') !== null

/** Time until the stream is opened again after an answer that makes the browser give up, in milliseconds. */
const reopenMs = 10_000
/** A reconnection within this time is not shown, in milliseconds, because streams end regularly. */
const quietMs = 2_000

/**
 * Opens the stream. A browser has six connections to a host for all tabs, so a hidden tab holds none.
 * @param listeners - By event name; each gets the event's data.
 * @param onState - Receives whether the stream is open.
 */
function connect(
  topic: string,
  listeners: Readonly<Record<string, (data: string) => void>>,
  onState: (isConnected: boolean) => void,
): void {
  const query = new URLSearchParams(topic)
  let source: EventSource | null = null
  let lostTimer: ReturnType<typeof setTimeout> | undefined
  const onLost = () => {
    clearTimeout(lostTimer)
    lostTimer = setTimeout(() => onState(false), quietMs)
  }
  const close = () => {
    source?.close()
    source = null
    onLost()
  }
  const open = () => {
    if (source !== null || document.hidden) return
    const opened = new EventSource(`/console/live?${query}`)
    source = opened
    opened.addEventListener('open', () => {
      clearTimeout(lostTimer)
      onState(true)
    })
    opened.addEventListener('error', () => {
      onLost()
      if (opened.readyState !== EventSource.CLOSED) return
      close()
      setTimeout(open, reopenMs)
    })
    for (const [name, listen] of Object.entries(listeners))
      opened.addEventListener(name, ({ data, lastEventId }) => {
        // The browser sends the last id only when it reconnects by itself.
        if (lastEventId !== '') query.set('after', lastEventId)
        listen(data)
      })
  }
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()))
  open()
}
