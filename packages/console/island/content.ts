/** The content of a page: loading it again, and its buttons that copy. @module */

/**
 * Open details stay open. A page with charts is loaded by the browser.
 * @returns Whether the content is replaced: it stays while one types into it, and when the page cannot be read.
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
  addCopyButtons()
  return true
}

/** Whether the focus is in a field that a reload would replace. */
export const isTyping = () => document.activeElement?.closest('#main :is(input, select, textarea)') != null

/** The details of a part by the texts of their summaries, equal ones numbered: new ones may stand between them. */
function findDetails(part: Element): Map<string, HTMLDetailsElement> {
  const found = new Map<string, HTMLDetailsElement>()
  for (const details of part.querySelectorAll('details')) {
    const name = details.querySelector('summary')?.textContent ?? ''
    let number = 1
    while (found.has(`${number} ${name}`)) number += 1
    found.set(`${number} ${name}`, details)
  }
  return found
}

/** Adds them; without a clipboard they stay hidden. */
export function addCopyButtons(): void {
  if (navigator.clipboard === undefined) return
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    button.hidden = false
    button.addEventListener('click', async () => {
      const text = button.parentElement?.querySelector('pre')?.textContent ?? ''
      await navigator.clipboard.writeText(text).then(
        () => mark(button, 'Copied'),
        () => mark(button, 'Not copied'),
      )
    })
  }
}

function mark(button: HTMLButtonElement, word: string): void {
  button.textContent = word
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1_500)
}
