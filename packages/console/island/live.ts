/** Follows the page's stream, and changes rows in place; while one reads further down it only counts. @module */

/** Longest list of a live page. */
const mostRows = 100
/** Distance from the top, in pixels, from which on changes wait. */
const awayPx = 160

/** Follows the stream that `data-live` names. `onCharts` gets the series of the overview. */
export function followLive(onCharts: (data: unknown) => void): void {
  const topic = document.body.dataset['live']
  const button = document.getElementById('live')
  if (topic === undefined || button === null) return
  const waiting = new Map<string, () => void>()
  let isPaused = false
  let isConnected = false

  const isWaiting = () => isPaused || window.scrollY > awayPx
  const show = () => {
    button.hidden = false
    button.className = !isConnected ? 'live off' : isWaiting() ? 'live paused' : 'live'
    const changes = waiting.size === 1 ? '1 change' : `${waiting.size} changes`
    button.textContent = !isConnected
      ? 'connecting'
      : isWaiting()
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
    if (row !== null) apply(row.dataset['key'] ?? '', () => place(row, matches))
  })
  source.addEventListener('stale', () => apply('stale', () => void reload()))
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
}

/** The server escaped the row's text. */
function rowOf(html: string): HTMLTableRowElement | null {
  const template = document.createElement('template')
  template.innerHTML = html
  return template.content.querySelector('tr')
}

function place(row: HTMLTableRowElement, matches: boolean): void {
  const list = document.getElementById('rows')
  if (list === null) {
    if (matches) void reload()
    return
  }
  const known = [...list.querySelectorAll<HTMLTableRowElement>('tr')].find(
    (each) => each.dataset['key'] === row.dataset['key'],
  )
  if (!matches) known?.remove()
  else if (known !== undefined) {
    if (known.contains(document.activeElement)) return
    known.replaceWith(row)
    row.classList.add('changed')
  } else {
    row.classList.add('changed')
    list.prepend(row)
    while (list.children.length > mostRows) list.lastElementChild?.remove()
  }
}

function replacePart(id: string, html: string): void {
  const part = document.getElementById(id)
  if (part !== null && !part.contains(document.activeElement)) part.innerHTML = html
}

/** Loads the page again, and replaces its content; open details stay open. */
async function reload(): Promise<void> {
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => null)
  if (answer === null || !answer.ok) return
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const [from, to] = [page.getElementById('main'), document.getElementById('main')]
  if (from === null || to === null) return
  const open = [...to.querySelectorAll('details')].map((each) => each.open)
  for (const [index, details] of [...from.querySelectorAll('details')].entries())
    if (open[index] === true) details.open = true
  to.replaceChildren(...from.childNodes)
}
