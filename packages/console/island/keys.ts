/** The keys of the pages, and the dialog that names them. @module */

/** Adds the keys, except while a field has the focus. `refresh` loads the rows again. */
export function addKeys(refresh: () => void): void {
  const dialog = createKeysDialog()
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    if (dialog.open) return
    if (key === 'k' && (event.ctrlKey || event.metaKey)) return goToSearch(event)
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return
    switch (key) {
      case '/':
        return goToSearch(event)
      case 'j':
      case 'k':
        return moveFocus(key === 'j' ? 1 : -1)
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

function moveFocus(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('td a.hex[href*="/payments/"]')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus()
}

const keys = [
  ['/', 'find a payment, as does Ctrl+K'],
  ['j', 'next row'],
  ['k', 'previous row'],
  ['Enter', 'open the row'],
  ['r', 'load the rows again, and go on live'],
  ['?', 'these keys'],
  ['Esc', 'close'],
] as const

/** Builds the dialog and its button here, because without this script there are no keys. */
function createKeysDialog(): HTMLDialogElement {
  const dialog = document.createElement('dialog')
  dialog.className = 'keys'
  dialog.setAttribute('aria-labelledby', 'keys-title')
  const rows = keys.map(([key, meaning]) => `<div><dt><kbd>${key}</kbd></dt><dd>${meaning}</dd></div>`)
  dialog.innerHTML = `<h2 id="keys-title">Keys</h2><dl>${rows.join('')}</dl><button type="button">Close</button>`
  // A press beside the dialog hits its backdrop, which counts as the dialog itself.
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || target instanceof HTMLButtonElement) dialog.close()
  })
  document.body.append(dialog)
  const open = document.createElement('button')
  open.type = 'button'
  open.className = 'keys-button'
  open.textContent = '?'
  open.setAttribute('aria-label', 'Keys')
  open.addEventListener('click', () => dialog.showModal())
  document.querySelector('header .who')?.before(open)
  return dialog
}
