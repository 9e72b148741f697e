/** Loads the page again, and replaces its content. @module */
import { addCopyButtons } from './copy.js'

/** Open details stay open. A page with charts, or one that cannot be read, is loaded by the browser. */
export async function reload(): Promise<void> {
  if (document.getElementById('chart-data') !== null) return location.reload()
  const answer = await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => null)
  if (answer === null || !answer.ok) return
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const [from, to] = [page.getElementById('main'), document.getElementById('main')]
  if (from === null || to === null) return
  const before = detailsOf(to)
  for (const [name, details] of detailsOf(from)) if (before.get(name)?.open === true) details.open = true
  to.replaceChildren(...from.childNodes)
  addCopyButtons()
}

/** The details of a part by the texts of their summaries, equal ones numbered: new ones may stand between them. */
function detailsOf(part: Element): Map<string, HTMLDetailsElement> {
  const found = new Map<string, HTMLDetailsElement>()
  for (const details of part.querySelectorAll('details')) {
    const name = details.querySelector('summary')?.textContent ?? ''
    let number = 1
    while (found.has(`${number} ${name}`)) number += 1
    found.set(`${number} ${name}`, details)
  }
  return found
}
