/** The keys of the pages, and the dialog that names them. @module */
import { createKeysDialog } from './keys-dialog.js'

/** Adds them. Keys typed into a field stay there. `refresh` loads the rows again. */
export function addKeys(refresh: () => void): void {
  const dialog = createKeysDialog()
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return
    if (target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return
    switch (key) {
      case '/':
        return goToSearch(event)
      case 'j':
      case 'k':
        return move(key === 'j' ? 1 : -1)
      case 'r':
        return refresh()
      case '?':
        return dialog.showModal()
    }
  })
}

function goToSearch(event: KeyboardEvent): void {
  const box = document.querySelector<HTMLInputElement>('input[type=search]')
  if (box === null) return
  event.preventDefault()
  box.focus()
  box.select()
}

function move(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('#rows a.hex[href*="/payments/"]')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus()
}
