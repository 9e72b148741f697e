/** Loads a page's content again, adds the copy buttons, and shows times in a zone. @module */

/**
 * Loads the content again. Open details stay open. The browser itself reloads a page with charts.
 * @returns Whether the content was replaced; false while somebody types into it, and when the page cannot be read.
 */
export async function reload(): Promise<boolean> {
  if (document.getElementById('chart-data') !== null) {
    location.reload()
    return true
  }
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
  if (!answer.ok) return false
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const [from, to] = [page.getElementById('main'), document.getElementById('main')]
  if (from === null || to === null || isTyping()) return false
  const before = findDetails(to)
  for (const [name, details] of findDetails(from)) if (before.get(name)?.open === true) details.open = true
  to.replaceChildren(...from.childNodes)
  return true
}

/** Whether the focus is in a field that a reload would replace. */
export const isTyping = () => document.activeElement?.closest('#main :is(input, select, textarea)') != null

/** The details of a part by the text of their summary, not by position, which may change. Equal texts are numbered. */
function findDetails(part: Element): Map<string, HTMLDetailsElement> {
  const detailsByName = new Map<string, HTMLDetailsElement>()
  for (const details of part.querySelectorAll('details')) {
    const name = details.querySelector('summary')?.textContent ?? ''
    let number = 1
    while (detailsByName.has(`${number} ${name}`)) number += 1
    detailsByName.set(`${number} ${name}`, details)
  }
  return detailsByName
}

/** Shows the copy buttons, also those of later rows. Without a clipboard they stay hidden. */
export function addCopyButtons(): void {
  if (navigator.clipboard === undefined) return
  document.documentElement.classList.add('can-copy')
  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('[data-copy]') : null
    if (button === null || button.classList.contains('done')) return
    const label = button.textContent
    const text = button.dataset['copy'] || (button.parentElement?.querySelector('pre')?.textContent ?? '')
    const isDone = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    const isShort = button.classList.contains('copy-hex')
    button.classList.add('done')
    button.textContent = isDone ? (isShort ? '✓' : 'Copied') : isShort ? '✗' : 'Not copied'
    setTimeout(() => {
      button.classList.remove('done')
      button.textContent = label
    }, 1_500)
  })
}

const zoneKey = 'payment-console-times'

const isLocal = () => localStorage.getItem(zoneKey) === 'local'

/** A moment as ISO text, in UTC or in the time zone of the browser, without the zone. */
export function formatInstant(ms: number): string {
  const shiftMs = isLocal() ? new Date(ms).getTimezoneOffset() * 60_000 : 0
  return new Date(ms - shiftMs).toISOString().slice(0, 19)
}

/** Adds the button that shows all times in UTC or in local time; the browser remembers the choice. */
export function addZoneButton(onChange: () => void): void {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'zone-button'
  const show = () => {
    button.textContent = isLocal() ? 'Local' : 'UTC'
    button.title = isLocal() ? 'Show times in UTC' : 'Show times in local time'
    for (const time of document.querySelectorAll('time')) {
      const [date, clock = ''] = formatInstant(Date.parse(time.dateTime)).split('T')
      const [first, last] = [time.querySelector('.dim'), time.lastChild]
      if (first !== null && first.textContent !== `${date} `) first.textContent = `${date} `
      if (last !== null && last.textContent !== clock) last.textContent = clock
    }
  }
  button.addEventListener('click', () => {
    localStorage.setItem(zoneKey, isLocal() ? 'utc' : 'local')
    show()
    onChange()
  })
  document.querySelector('header .who')?.before(button)
  show()
  const main = document.getElementById('main')
  // Rows arrive and change while the page is open.
  if (main !== null) new MutationObserver(() => isLocal() && show()).observe(main, { childList: true, subtree: true })
}
