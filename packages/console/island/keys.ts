/** Keys: `/` goes to the search box, j and k to the next and the previous row. @module */

/** Adds them. Keys typed into a field stay there. */
export function addKeys(): void {
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return
    if (key === '/') {
      const box = document.querySelector<HTMLInputElement>('input[type=search]')
      if (box === null) return
      event.preventDefault()
      box.focus()
      box.select()
    }
    if (key === 'j' || key === 'k') move(key === 'j' ? 1 : -1)
  })
}

function move(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('#rows a.hex[href*="/payments/"]')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus()
}
