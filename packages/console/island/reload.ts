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
  const open = [...to.querySelectorAll('details')].map((each) => each.open)
  for (const [index, details] of [...from.querySelectorAll('details')].entries())
    if (open[index] === true) details.open = true
  to.replaceChildren(...from.childNodes)
  addCopyButtons()
}
