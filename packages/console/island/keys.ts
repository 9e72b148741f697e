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
  const dialog = element('dialog', 'keys')
  const title = element('h2', '', 'Keys')
  title.id = 'keys-title'
  dialog.setAttribute('aria-labelledby', title.id)
  const list = element('dl')
  for (const [key, meaning] of keys) {
    const row = element('div')
    const term = element('dt')
    term.append(element('kbd', '', key))
    row.append(term, element('dd', '', meaning))
    list.append(row)
  }
  const close = element('button', '', 'Close')
  close.type = 'button'
  close.addEventListener('click', () => dialog.close())
  // A press beside the dialog hits its backdrop, which counts as the dialog itself.
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close()
  })
  dialog.append(title, list, close)
  document.body.append(dialog)
  const open = element('button', 'keys-button', '?')
  open.type = 'button'
  open.setAttribute('aria-label', 'Keys')
  open.addEventListener('click', () => dialog.showModal())
  document.querySelector('header .who')?.before(open)
  return dialog
}

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, className = '', text = '') {
  const created = document.createElement(name)
  if (className !== '') created.className = className
  created.textContent = text
  return created
}
