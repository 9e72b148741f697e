/** Takes the token of a one-time link out of the address, so that no history keeps it. @module */

/** Puts it into its field. */
export function takeLink(): void {
  const field = document.querySelector<HTMLInputElement>('input[data-link]')
  const token = location.hash.slice(1)
  if (field === null || token === '') return
  field.value = token
  history.replaceState(null, '', location.pathname)
  document.querySelector<HTMLInputElement>('#passphrase')?.focus()
}
